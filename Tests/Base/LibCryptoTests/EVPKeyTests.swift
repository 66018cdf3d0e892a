// SPDX-License-Identifier: Apache-2.0

import LibCrypto
import Secrets
import Testing

@Suite("Keys and numbers of libcrypto")
struct EVPKeyTests {
  private let digest = [UInt8](repeating: 3, count: 32)

  private func agreed(_ mine: borrowing EVPKey, _ theirs: borrowing EVPKey) throws -> [UInt8] {
    try mine.sharedSecret(with: theirs).withBytes { bytes in
      (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }

  @Test("Two keys agree on one secret", arguments: [("P-256", 32), ("brainpoolP512r1", 64)])
  func agreement(group: String, byteCount: Int) throws {
    let one = EVPKey.generate(.ellipticCurve, group: group)!
    let other = EVPKey.generate(.ellipticCurve, group: group)!
    let (secret, again) = (try agreed(one, other), try agreed(other, one))
    #expect(secret.count == byteCount && again == secret)
  }

  @Test("Keys of different curves share no secret")
  func mixedCurves() {
    let one = EVPKey.generate(.ellipticCurve, group: "P-256")!
    let other = EVPKey.generate(.ellipticCurve, group: "P-384")!
    #expect(throws: LibCryptoError.refused) { _ = try one.sharedSecret(with: other).count }
  }

  @Test("A key made of its parts is the key; with another's point it is not a pair")
  func parts() throws {
    let one = EVPKey.generate(.ellipticCurve, group: "P-256")!
    let other = EVPKey.generate(.ellipticCurve, group: "P-256")!
    let (scalar, point, otherPoint) = (one.number(.privateValue)!, one.publicOctets!, other.publicOctets!)
    let again = EVPKey.make(
      .ellipticCurve, [(.privateValue, scalar)], isPrivate: true, group: "P-256", point: point)!
    let mixed = EVPKey.make(
      .ellipticCurve, [(.privateValue, scalar)], isPrivate: true, group: "P-256", point: otherPoint)!
    let arePairs = [again.isPair, mixed.isPair]
    #expect(arePairs == [true, false])
    var changed = point
    changed[64] ^= 1
    let isMade = EVPKey.make(.ellipticCurve, [], isPrivate: false, group: "P-256", point: changed) != nil
    #expect(!isMade)
    let hasModulus = one.number(.modulus) != nil
    #expect(!hasModulus)
  }

  @Test("ECDSA signs, and the two forms of its signature are one")
  func ecdsa() throws {
    let key = EVPKey.generate(.ellipticCurve, group: "P-256")!
    let signature = try key.signature(of: digest, paddedFor: nil)
    let (r, s) = try #require(ECDSASequence.numbers(signature))
    #expect(ECDSASequence.make(r: r, s: s) == signature)
    let areValid = [
      try key.isValid(signature, of: digest, paddedFor: nil),
      try key.isValid(ECDSASequence.make(r: s, s: r), of: digest, paddedFor: nil),
    ]
    #expect(areValid == [true, false])
    #expect(ECDSASequence.numbers([1, 2, 3]) == nil)
  }

  @Test("Ed25519 and Ed448 sign messages", arguments: [(EVPKey.Kind.ed25519, 32, 64), (.ed448, 57, 114)])
  func eddsa(kind: EVPKey.Kind, keyByteCount: Int, signatureByteCount: Int) throws {
    let secret = [UInt8](repeating: 9, count: keyByteCount)
    let key = EVPKey.make(kind, secretOctets: secret.rawSpan)!
    let (signature, octets) = (key.signature(message: [1, 2, 3])!, key.publicOctets!)
    #expect(signature.count == signatureByteCount)
    let publicKey = EVPKey.make(kind, publicOctets: octets)!
    let areValid = [
      publicKey.isValid(signature, message: [1, 2, 3]), publicKey.isValid(signature, message: [1, 2]),
    ]
    #expect(areValid == [true, false])
    let isMade = [
      EVPKey.make(kind, publicOctets: Array(octets.dropLast())) != nil,
      EVPKey.make(kind, secretOctets: secret.rawSpan.extracting(droppingLast: 1)) != nil,
    ]
    #expect(isMade == [false, false])
  }

  @Test("RSA signs with padding, encrypts, and gives its raw power")
  func rsa() throws {
    let key = EVPKey.generate(.rsa, bitCount: 1024)!
    let signature = try key.signature(of: digest, paddedFor: .sha256)
    #expect(signature.count == 128)
    let areValid = [
      try key.isValid(signature, of: digest, paddedFor: .sha256),
      try key.isValid(signature, of: digest, paddedFor: .sha3_256),
    ]
    #expect(areValid == [true, false])
    let encrypted = try key.encryptedByRSA([1, 2, 3].rawSpan)
    let end = try key.rawDecryptedByRSA(encrypted).withBytes { block in
      (123..<128).map { block.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
    #expect(end.suffix(4) == [0, 1, 2, 3])
    #expect(throws: LibCryptoError.refused) {
      _ = try key.encryptedByRSA([UInt8](repeating: 1, count: 118).rawSpan)
    }
    #expect(throws: LibCryptoError.refused) {
      _ = try key.rawDecryptedByRSA([UInt8](repeating: 255, count: 128)).count
    }
    // The parts are a key again, with the primes as libcrypto has them.
    let parts: [EVPKey.Part] = [
      .modulus, .publicExponent, .privateExponent, .factor1, .factor2, .exponent1, .exponent2, .coefficient,
    ]
    let numbers = parts.map { (part: $0, number: key.number($0)!) }
    #expect(numbers[3].number * numbers[4].number == numbers[0].number)
    #expect(((numbers[7].number * numbers[4].number) % numbers[3].number).isOne)
    let again = EVPKey.make(.rsa, numbers, isPrivate: true)!
    let sameSignature = try again.signature(of: digest, paddedFor: .sha256)
    #expect(sameSignature == signature)
  }

  @Test("What libcrypto cannot generate is nil")
  func generation() {
    let isMade = [
      EVPKey.generate(.ellipticCurve, group: "no curve") != nil, EVPKey.generate(.rsa, bitCount: 8) != nil,
    ]
    #expect(isMade == [false, false])
  }

  @Test("Numbers are written with as many octets as asked for, or not at all")
  func numbers() throws {
    let number = BigNumber([0, 1, 2].rawSpan)
    #expect(number.bitCount == 9 && number.byteCount == 2 && !number.isOdd && !number.isOne)
    #expect(number.publicOctets == [1, 2])
    #expect(number.predecessor.publicOctets == [1, 1])
    #expect(BigNumber(littleEndian: [2, 1].rawSpan) == number)
    #expect(BigNumber([1].rawSpan).isOne && BigNumber(RawSpan()).publicOctets.isEmpty)
    for isLittleEndian in [false, true] {
      let expected: [UInt8] = isLittleEndian ? [2, 1, 0] : [0, 1, 2]
      let isSame = number.octets(3, isLittleEndian: isLittleEndian)!.withBytes {
        constantTimeEqual($0, expected.rawSpan)
      }
      #expect(isSame)
    }
    let fits = [number.octets(1) != nil, number.octets(1, isLittleEndian: true) != nil]
    #expect(fits == [false, false])
  }
}
