// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import PostQuantum

@Suite("ML-DSA", .serialized)
struct MLDSATests {
  private static let message = Array("a digest is signed like any other message".utf8)

  private static func seed() -> [UInt8] { SystemRandom.publicBytes(count: MLDSA.seedByteCount) }

  @Test("Lengths are those of FIPS 204, table 2")
  func lengths() {
    #expect(MLDSA.allCases.map(\.publicKeyByteCount) == [1952, 2592])
    #expect(MLDSA.allCases.map(\.signatureByteCount) == [3309, 4627])
    #expect(MLDSA.seedByteCount == 32)
  }

  @Test("Signatures are valid and each is another", arguments: MLDSA.allCases)
  func roundTrip(_ scheme: MLDSA) {
    let seed = Self.seed()
    let publicKey = scheme.publicKey(seed: seed)
    let signatures = (0..<3).map { _ in scheme.sign(Self.message, seed: seed) }
    #expect(Set(signatures).count == 3)
    for signature in signatures {
      #expect(signature.count == scheme.signatureByteCount)
      #expect(scheme.isValid(signature, of: Self.message, publicKey: publicKey))
    }
    #expect(scheme.isValid(scheme.sign([], seed: seed), of: [], publicKey: publicKey))
  }

  @Test("Another key, message or context, or any changed part, is not valid", arguments: MLDSA.allCases)
  func changes(_ scheme: MLDSA) {
    let seed = Self.seed()
    let publicKey = scheme.publicKey(seed: seed)
    let signature = scheme.sign(Self.message, seed: seed)
    let otherSeed = Self.seed()
    let other = scheme.publicKey(seed: otherSeed)
    #expect(!scheme.isValid(signature, of: Self.message, publicKey: other))
    #expect(!scheme.isValid(signature, of: Self.message + [0], publicKey: publicKey))
    #expect(!scheme.isValid(signature, of: Self.message, context: [0], publicKey: publicKey))
    // The challenge, the first and last octet of z, the hints and the numbers of hints.
    let hints = scheme == .mldsa65 ? 61 : 83
    let count = scheme.signatureByteCount
    for place in [0, 47, 64, count - hints - 1, count - hints, count - 1] {
      var changed = signature
      changed[place] ^= 1
      #expect(!scheme.isValid(changed, of: Self.message, publicKey: publicKey), "octet \(place)")
    }
    for place in [0, 31, 32, scheme.publicKeyByteCount - 1] {
      var changed = publicKey
      changed[place] ^= 1
      #expect(!scheme.isValid(signature, of: Self.message, publicKey: changed), "octet \(place) of the key")
    }
  }

  @Test("Signatures and public keys of other lengths are not valid", arguments: MLDSA.allCases)
  func otherLengths(_ scheme: MLDSA) {
    let seed = Self.seed()
    let publicKey = scheme.publicKey(seed: seed)
    let signature = scheme.sign(Self.message, seed: seed)
    for other in [[], Array(signature.dropLast()), signature + [0]] {
      #expect(!scheme.isValid(other, of: Self.message, publicKey: publicKey))
    }
    for other in [[], Array(publicKey.dropLast()), publicKey + [0]] {
      #expect(!scheme.isValid(signature, of: Self.message, publicKey: other))
    }
  }
}
