// SPDX-License-Identifier: Apache-2.0
//
// Sealed values and set digests: the two primitives that the keychain and the vault are made of.

import Primitives
import Secrets
import Testing

@Suite("Sealed value and set digest")
struct SealedValueTests {
  private let key = [UInt8](repeating: 7, count: 32)
  private let context: [UInt8] = [1, 2, 3]

  private func seal(_ plaintext: [UInt8]) -> [UInt8] {
    var sealer = SealedValue()
    return sealer.seal(plaintext.span.bytes, key: key.span.bytes, context: context)
  }

  private func open(_ sealed: [UInt8], key: [UInt8], context: [UInt8]) throws -> [UInt8] {
    var sealer = SealedValue()
    let opened = try sealer.open(sealed.span.bytes, key: key.span.bytes, context: context)
    return opened.withBytes { $0.withUnsafeBytes { Array($0) } }
  }

  @Test("A value of any size comes back, with the overhead that is stated")
  func roundTrip() throws {
    #expect(SealedValue.overheadByteCount == 77)
    for count in 0...1000 {
      let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let sealed = seal(plaintext)
      #expect(sealed.count == count + SealedValue.overheadByteCount)
      #expect(try open(sealed, key: key, context: context) == plaintext)
    }
  }

  @Test("A wrong key is told from a changed value, at every byte")
  func failures() throws {
    let sealed = seal(Array("plaintext".utf8))
    for offset in key.indices {
      var other = key
      other[offset] ^= 1
      #expect(throws: SealedValue.Failure.wrongKey) { try open(sealed, key: other, context: context) }
    }
    for offset in sealed.indices {
      for mask in [0x01, 0x80] as [UInt8] {
        var changed = sealed
        changed[offset] ^= mask
        let failure: SealedValue.Failure =
          offset == 0 ? .malformed : offset < 49 ? .wrongKey : .tampered
        #expect(throws: failure, "byte \(offset)") { try open(changed, key: key, context: context) }
      }
    }
    for other in [[], [1, 2], [1, 2, 3, 0], [1, 2, 4]] as [[UInt8]] {
      #expect(throws: SealedValue.Failure.tampered) { try open(sealed, key: key, context: other) }
    }
  }

  @Test("A value that was cut or lengthened does not open")
  func lengths() {
    let sealed = seal(Array("plaintext".utf8))
    for count in sealed.indices {
      let failure: SealedValue.Failure = count < 77 ? .malformed : .tampered
      #expect(throws: failure) { try open(Array(sealed.prefix(count)), key: key, context: context) }
    }
    #expect(throws: SealedValue.Failure.tampered) {
      try open(sealed + [0], key: key, context: context)
    }
  }

  @Test("Two seals of one value share no salt, no check and no nonce")
  func fresh() {
    let (one, two) = (seal([1]), seal([1]))
    for range in [1..<17, 17..<49, 49..<61] { #expect(one[range] != two[range]) }
  }

  // MARK: Set digest

  private func digest(_ members: [UInt8], key: UInt8 = 1, removing: [UInt8] = []) -> SetDigest {
    let bytes = [UInt8](repeating: key, count: 32)
    var hash = SetHash(key: SecretBytes(copying: bytes.span.bytes))
    var digest = SetDigest()
    for member in members { hash.add([member].span.bytes, to: &digest) }
    for member in removing { hash.remove([member].span.bytes, from: &digest) }
    return digest
  }

  @Test("A set has one digest, in whatever order it was filled, and another under another key")
  func sets() {
    #expect(digest([1, 2, 3]) == digest([3, 1, 2]))
    #expect(digest([1, 2, 3], removing: [2]) == digest([1, 3]))
    #expect(digest([1, 2], removing: [1, 2]) == SetDigest())
    #expect(digest([1, 2]) != digest([1, 3]))
    #expect(digest([1, 2]) != digest([1, 2], key: 2))
    #expect(digest([1]).count == 1)
    // The sum alone would not see a pair of equal members; the count does.
    #expect(digest([1, 1]) != SetDigest())
    let stored = digest([1, 2])
    #expect(SetDigest(count: stored.count, sum: stored.sum) == stored)
  }
}
