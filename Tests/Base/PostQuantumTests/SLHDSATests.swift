// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import PostQuantum

@Suite("SLH-DSA", .serialized)
struct SLHDSATests {
  private static let message = Array("a digest is signed like any other message".utf8)

  @Test("Lengths are those of FIPS 205, table 2")
  func lengths() {
    #expect(SLHDSA.allCases.map(\.publicKeyByteCount) == [32, 32, 64])
    #expect(SLHDSA.allCases.map(\.secretKeyByteCount) == [64, 64, 128])
    #expect(SLHDSA.allCases.map(\.signatureByteCount) == [7856, 17088, 29792])
  }

  @Test("New keys sign, and their signatures are valid", arguments: SLHDSA.allCases)
  func roundTrip(_ scheme: SLHDSA) {
    let (publicKey, secretKey) = scheme.generate()
    let octets = octets(secretKey)
    #expect(Array(octets.suffix(publicKey.count)) == publicKey)
    #expect(scheme.publicKey(secretKey: octets) == publicKey)
    let signature = scheme.sign(Self.message, secretKey: octets)
    #expect(signature.count == scheme.signatureByteCount)
    #expect(scheme.isValid(signature, of: Self.message, publicKey: publicKey))
    let (other, otherKey) = scheme.generate()
    #expect(other != publicKey && self.octets(otherKey) != octets)
    #expect(!scheme.isValid(signature, of: Self.message, publicKey: other))
  }

  private func octets(_ secret: SharedSecretBytes) -> [UInt8] { PostQuantumTests.octets(secret) }

  @Test("A private key whose root is another's has no public key", arguments: SLHDSA.allCases)
  func otherRoot(_ scheme: SLHDSA) {
    let key = octets(scheme.generate().secretKey)
    for (place, hasPublicKey) in [
      (0, false), (scheme.n, true), (2 * scheme.n, false), (4 * scheme.n - 1, false),
    ] {
      var changed = key
      changed[place] ^= 1
      #expect((scheme.publicKey(secretKey: changed) != nil) == hasPublicKey, "octet \(place)")
    }
  }

  @Test("Each signature is another, and an empty message is signed like others")
  func hedged() {
    let (publicKey, secretKey) = SLHDSA.shake128f.generate()
    let signatures = (0..<3).map { _ in SLHDSA.shake128f.sign(Self.message, secretKey: octets(secretKey)) }
    #expect(Set(signatures.map { $0.prefix(16) }).count == 3)
    let signature = SLHDSA.shake128f.sign([], secretKey: octets(secretKey))
    #expect(SLHDSA.shake128f.isValid(signature, of: [], publicKey: publicKey))
    #expect(!SLHDSA.shake128f.isValid(signature, of: [0], publicKey: publicKey))
  }

  @Test("Another message, or any changed part of a signature, is not valid")
  func changes() {
    let scheme = SLHDSA.shake128f
    let (publicKey, secretKey) = scheme.generate()
    let signature = scheme.sign(Self.message, secretKey: octets(secretKey))
    #expect(!scheme.isValid(signature, of: Self.message + [0], publicKey: publicKey))
    #expect(!scheme.isValid(signature, of: [[0, 1, 0], Self.message], publicKey: publicKey))
    // R; of the first and last tree of FORS the secret and the path; of each layer the first and last chain and
    // the path.
    let fors = (1 + scheme.forsHeight) * scheme.n
    let keys = scheme.n + scheme.forsTrees * fors
    let key = (scheme.chains + scheme.treeHeight) * scheme.n
    var places = [0, 15, 16, 31, 32, 16 + fors - 1, keys - fors, keys - 1]
    for layer in 0..<scheme.layers {
      let start = keys + layer * key
      places += [
        start, start + 16, start + scheme.chains * 16 - 1, start + scheme.chains * 16, start + key - 1,
      ]
    }
    #expect(places.last == scheme.signatureByteCount - 1)
    for place in places {
      var changed = signature
      changed[place] ^= 0x10
      #expect(!scheme.isValid(changed, of: Self.message, publicKey: publicKey), "octet \(place)")
    }
    for place in publicKey.indices {
      var changed = publicKey
      changed[place] ^= 1
      #expect(!scheme.isValid(signature, of: Self.message, publicKey: changed), "octet \(place) of the key")
    }
  }

  @Test("Signatures and public keys of other lengths are not valid", arguments: [SLHDSA.shake128f])
  func otherLengths(_ scheme: SLHDSA) {
    let (publicKey, secretKey) = scheme.generate()
    let signature = scheme.sign(Self.message, secretKey: octets(secretKey))
    for other in [[], Array(signature.dropLast()), signature + [0]] {
      #expect(!scheme.isValid(other, of: Self.message, publicKey: publicKey))
    }
    for other in [[], Array(publicKey.dropLast()), publicKey + [0]] {
      #expect(!scheme.isValid(signature, of: Self.message, publicKey: other))
    }
    #expect(!SLHDSA.shake128s.isValid(signature, of: Self.message, publicKey: publicKey))
  }

  @Test("Any number of lanes and threads makes the same keys and signatures, and finds them valid")
  func lanes() {
    let secretKey = (0..<64).map { UInt8($0) }
    let random = [UInt8](repeating: 7, count: 16)
    let scheme = SLHDSA.shake128f
    let root = scheme.computedRoot(secretKey: secretKey.span.bytes, lanes: 1)
    let key = Array(secretKey.prefix(48)) + root
    let publicKey = Array(key.suffix(32))
    let one = scheme.sign([Self.message], secretKey: key.span.bytes, random: random, lanes: 1, threads: 1)
    for lanes in KeccakTests.lanes {
      #expect(scheme.rootOctets(secretKey: key, lanes: lanes) == root, "\(lanes) lanes")
      for threads in 1...3 {
        let signature = scheme.sign(
          [Self.message], secretKey: key.span.bytes, random: random, lanes: lanes, threads: threads)
        #expect(signature == one, "\(lanes) lanes, \(threads) threads")
      }
      #expect(scheme.isValid(one, of: [Self.message], publicKey: publicKey, lanes: lanes), "\(lanes) lanes")
      #expect(!scheme.isValid(one, of: [[]], publicKey: publicKey, lanes: lanes), "\(lanes) lanes")
    }
    // The two other sizes, whose trees are higher.
    for scheme in [SLHDSA.shake128s, .shake256s] {
      let key = [UInt8](repeating: 3, count: scheme.secretKeyByteCount)
      let roots = KeccakTests.lanes.map { scheme.rootOctets(secretKey: key, lanes: $0) }
      #expect(Set(roots).count == 1)
    }
  }
}
