// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import PostQuantum

@Suite("ML-KEM", .serialized)
struct MLKEMTests {
  private static func seed() -> [UInt8] { SystemRandom.publicBytes(count: MLKEM.seedByteCount) }

  @Test("Lengths are those of FIPS 203, table 3")
  func lengths() {
    #expect(MLKEM.allCases.map(\.publicKeyByteCount) == [1184, 1568])
    #expect(MLKEM.allCases.map(\.ciphertextByteCount) == [1088, 1568])
    #expect(MLKEM.seedByteCount == 64 && MLKEM.secretByteCount == 32)
  }

  @Test("Whoever has the seed gets the secret that was encapsulated", arguments: MLKEM.allCases)
  func roundTrip(_ kem: MLKEM) throws {
    let seed = Self.seed()
    let publicKey = kem.publicKey(seed: seed)
    let (ciphertext, secret) = try #require(kem.encapsulate(to: publicKey))
    #expect(ciphertext.count == kem.ciphertextByteCount && secret.count == MLKEM.secretByteCount)
    #expect(kem.secret(in: ciphertext, seed: seed) == octets(secret))
    let (second, secondSecret) = try #require(kem.encapsulate(to: publicKey))
    #expect(second != ciphertext && octets(secondSecret) != octets(secret))
  }

  @Test("Another key or a changed ciphertext gives another secret", arguments: MLKEM.allCases)
  func implicitRejection(_ kem: MLKEM) throws {
    let seed = Self.seed()
    let (ciphertext, secret) = try #require(kem.encapsulate(to: kem.publicKey(seed: seed)))
    let otherSeed = Self.seed()
    #expect(kem.secret(in: ciphertext, seed: otherSeed) != octets(secret))
    // Around the first octet of v, which is 160 or 128 from the end.
    let count = kem.ciphertextByteCount
    for place in [0, 1, count - 161, count - 160, count - 129, count - 128, count - 1] {
      var changed = ciphertext
      changed[place] ^= 1
      let first = try #require(kem.secret(in: changed, seed: seed))
      let second = try #require(kem.secret(in: changed, seed: seed))
      #expect(first != octets(secret) && first == second, "octet \(place)")
    }
    // The secret of a rejected ciphertext depends on z, the second half of the seed.
    var changed = ciphertext
    changed[0] ^= 1
    var otherZ = seed
    otherZ[63] ^= 1
    let first = try #require(kem.secret(in: changed, seed: seed))
    #expect(kem.secret(in: changed, seed: otherZ) != first)
    #expect(kem.secret(in: ciphertext, seed: otherZ) == octets(secret))
  }

  @Test("Ciphertexts and public keys of other lengths are refused", arguments: MLKEM.allCases)
  func otherLengths(_ kem: MLKEM) throws {
    let seed = Self.seed()
    let publicKey = kem.publicKey(seed: seed)
    let (ciphertext, _) = try #require(kem.encapsulate(to: publicKey))
    for other in [[], Array(ciphertext.dropLast()), ciphertext + [0]] {
      #expect(kem.secret(in: other, seed: seed) == nil)
    }
    for other in [[], Array(publicKey.dropLast()), publicKey + [0]] {
      let result = kem.encapsulate(to: other)
      #expect(result == nil && !kem.isValidPublicKey(other))
    }
  }

  @Test("A coefficient of q or more is refused, q - 1 is not", arguments: MLKEM.allCases)
  func coefficients(_ kem: MLKEM) {
    let seed = Self.seed()
    let publicKey = kem.publicKey(seed: seed)
    // Two coefficients of 12 bits in three octets, the lower one first.
    func with(_ low: Int, _ high: Int, at place: Int) -> [UInt8] {
      var key = publicKey
      key[place] = UInt8(low & 0xFF)
      key[place + 1] = UInt8(low >> 8 | (high & 0xF) << 4)
      key[place + 2] = UInt8(high >> 4)
      return key
    }
    for place in [0, 3, kem.publicKeyByteCount - 35] {
      #expect(kem.isValidPublicKey(with(3328, 3328, at: place)))
      #expect(!kem.isValidPublicKey(with(3329, 0, at: place)))
      #expect(!kem.isValidPublicKey(with(0, 3329, at: place)))
      #expect(!kem.isValidPublicKey(with(0, 4095, at: place)))
    }
  }
}
