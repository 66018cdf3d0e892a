// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.5.5: the secret fields of a key. Multiprecision integers are read from memory for secrets
// and written to it; they never become arrays.

internal import LibCrypto
internal import PostQuantum
internal import Primitives
internal import Secrets

/// The secret fields of a key's algorithm.
enum SecretMaterial {
  /// As many integers as the algorithm has, and nothing after them. Section 3.2 demands exact counts of bits of
  /// version 6 alone; in version 4 the fields have a checksum of their own, and must fit the public ones.
  static func numbers(
    _ material: RawSpan, count: Int, keyVersion: UInt8
  ) throws(OpenPGPError) -> [BigNumber] {
    var cursor = PacketCursor()
    var numbers: [BigNumber] = []
    for _ in 0..<count {
      let range = try MPI.readRange(&cursor, material, countsLeadingZeros: keyVersion == 4)
      numbers.append(BigNumber(material.extracting(range)))
    }
    try cursor.expectEnd(material)
    return numbers
  }

  /// Whether `material` has as many octets, or integers, as the secret part of `key` consists of; what is in them
  /// shows when it is used. Of an algorithm that is not known everything may be right.
  static func fit(_ material: RawSpan, _ key: PublicKey) -> Bool {
    switch key.material {
    case .rsa: hasNumbers(material, count: 4, keyVersion: key.version)
    case .elgamal, .dsa, .ecdsa, .ecdh, .eddsaLegacy: hasNumbers(material, count: 1, keyVersion: key.version)
    case .x25519, .ed25519: material.byteCount == 32
    case .x448: material.byteCount == 56
    case .ed448: material.byteCount == 57
    case .compositeSignature(let kind, _, _):
      material.byteCount == kind.curveKeyByteCount + MLDSA.seedByteCount
    case .hashBasedSignature(let kind, _): material.byteCount == kind.parameters.secretKeyByteCount
    case .compositeKEM(let kind, _, _): material.byteCount == kind.curveKeyByteCount + MLKEM.seedByteCount
    case .unknown: true
    }
  }

  private static func hasNumbers(_ material: RawSpan, count: Int, keyVersion: UInt8) -> Bool {
    var cursor = PacketCursor()
    do {
      for _ in 0..<count {
        _ = try MPI.readRange(&cursor, material, countsLeadingZeros: keyVersion == 4)
      }
      return cursor.isAtEnd(material)
    } catch {
      return false
    }
  }

  /// The integers one after the other, each with its count of bits.
  static func material(_ numbers: [BigNumber]) -> SecretBytes {
    let byteCount = numbers.reduce(0) { $0 + 2 + $1.byteCount }
    return SecretBytes(byteCount: byteCount) { output in
      var offset = 0
      for number in numbers {
        let bitCount = number.bitCount
        output.storeBytes(of: UInt16(bitCount).bigEndian, toByteOffset: offset, as: UInt16.self)
        let start = offset + 2
        offset = start + number.byteCount
        var place = output._mutatingExtracting(start..<offset)
        precondition(number.write(to: &place), "a number fits into its own octets")
      }
    }
  }

  /// The sum of all octets modulo 65,536: it follows unprotected fields in version 4, and session keys.
  static func checksum(_ bytes: RawSpan) -> UInt16 {
    var sum: UInt16 = 0
    for offset in 0..<bytes.byteCount {
      sum &+= UInt16(unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self))
    }
    return sum
  }
}
