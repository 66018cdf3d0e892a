// SPDX-License-Identifier: Apache-2.0
//
// P-256 against Wycheproof, and what the rows do not reach: keys put together from parts, sizes, round trips.
// Rows whose public keys stand in ASN.1 cannot be put to `P256`, which takes points alone.

import COpenSSL
import Primitives
import Secrets
import TestVectors
import Testing

@Suite("P-256 vectors")
struct P256VectorTests {
  @Test("Wycheproof's ECDH rows agree, and points that are none, or compressed, are refused")
  func agreement() throws {
    var (agreeing, refused) = (0, 0)
    for row in try VectorTable("wycheproof/ecdh_secp256r1_ecpoint").rows {
      let key = try softwareKey(scalar: try row.bytes("private"))
      let peer = try row.bytes("public")
      // Valid under another encoding, which is none of ours.
      let isCompressed = row.has(flag: "CompressedPoint")
      guard row.isValid && !isCompressed else {
        refused += 1
        #expect(!P256.isPublicKey(peer), "\(row)")
        #expect(agreed(key, peer) == nil, "\(row)")
        continue
      }
      agreeing += 1
      let expected = try row.bytes("shared")
      #expect(agreed(key, peer) == expected, "\(row)")
    }
    #expect(agreeing == 330 && refused == 25)
  }

  @Test("Wycheproof's ECDSA rows verify, or do not, as they say")
  func signatures() throws {
    let rows = try VectorTable("wycheproof/ecdsa_secp256r1_sha256").rows
    for row in rows {
      let (publicKey, message) = (try row.bytes("publicKey"), try row.bytes("msg"))
      let digest = SHA256.hash(message.span.bytes)
      let isValid = P256.isValidSignature(try row.bytes("sig"), digest: digest, publicKey: publicKey)
      #expect(isValid == row.isValid, "\(row)")
    }
    #expect(rows.count == 484)
  }
}

@Suite("P-256")
struct P256Tests {
  @Test("A key put together from its parts is the same key")
  func parts() throws {
    let key = SoftwareKey()
    let again = try SoftwareKey(bytes: key.scalar, publicKey: key.publicKey)
    let peer = SoftwareKey()
    #expect(agreed(again, peer.publicKey) != nil)
    #expect(agreed(again, peer.publicKey) == agreed(peer, key.publicKey))
    #expect(again.publicKey == key.publicKey)
  }

  @Test("A scalar with zeros in front keeps its 32 bytes, and so does a secret")
  func zerosInFront() throws {
    var one = [UInt8](repeating: 0, count: 32)
    one[31] = 1
    let key = try softwareKey(scalar: one)
    #expect(key.scalar == one)
    // Times one, the secret is the other side's x; one in 256 of those begins with zero.
    var isFound = false
    for _ in 0..<5_000 where !isFound {
      let peer = SoftwareKey()
      guard peer.publicKey[1] == 0 else { continue }
      isFound = true
      #expect(agreed(key, peer.publicKey) == Array(peer.publicKey[1..<33]))
    }
    #expect(isFound)
  }

  @Test("A scalar and a public key that do not belong together are no key")
  func strangers() throws {
    let key = SoftwareKey()
    let other = SoftwareKey()
    func make(_ scalar: [UInt8], _ publicKey: [UInt8]) -> CryptoError? {
      #expect(throws: CryptoError.self) { try SoftwareKey(bytes: scalar, publicKey: publicKey) }
    }
    let scalar = key.scalar
    #expect(throws: Never.self) { try SoftwareKey(bytes: scalar, publicKey: key.publicKey) }
    #expect(make(scalar, other.publicKey) == .invalidKey)
    #expect(make([UInt8](repeating: 0, count: 32), key.publicKey) == .invalidKey)
    // The order of the group, and the last number of 32 bytes.
    let order = try hexBytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    #expect(make(order, key.publicKey) == .invalidKey)
    #expect(make([UInt8](repeating: 0xFF, count: 32), key.publicKey) == .invalidKey)
    #expect(make(Array(scalar.dropLast()), key.publicKey) == .invalidKey)
    #expect(make(scalar + [0], key.publicKey) == .invalidKey)
    #expect(make(scalar, []) == .invalidKey)
    #expect(make(scalar, Array(key.publicKey.dropLast())) == .invalidKey)
  }

  @Test("Only a point of the curve in 65 bytes is a public key")
  func points() throws {
    let point = P256PrivateKey().publicKey
    #expect(point.count == P256.publicKeyByteCount && point[0] == 4)
    #expect(P256.isPublicKey(point))
    for changed in [0, 1, 32, 33, 64] {
      var bytes = point
      bytes[changed] ^= 1
      #expect(!P256.isPublicKey(bytes), "byte \(changed)")
    }
    for first: UInt8 in [0, 2, 3, 6, 7] { #expect(!P256.isPublicKey([first] + point.dropFirst())) }
    let field = try hexBytes("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
    #expect(!P256.isPublicKey([4] + field + point[33...]))
    for bytes in [[], [0], [4], Array(point.dropLast()), point + [0], [4] + [UInt8](repeating: 0, count: 64)]
    {
      #expect(!P256.isPublicKey(bytes))
    }
  }

  @Test("A signature is valid for its digest and key alone")
  func signing() throws {
    let key = SoftwareKey()
    let other = SoftwareKey()
    let digest = SystemRandom.publicBytes(count: 32)
    for _ in 0..<50 {
      let signature = try key.signature(digest: digest)
      #expect(P256.isValidSignature(signature, digest: digest, publicKey: key.publicKey))
      #expect(!P256.isValidSignature(signature, digest: digest, publicKey: other.publicKey))
      #expect(!P256.isValidSignature(signature + [0], digest: digest, publicKey: key.publicKey))
      var changed = digest
      changed[31] ^= 1
      #expect(!P256.isValidSignature(signature, digest: changed, publicKey: key.publicKey))
    }
    #expect(throws: CryptoError.invalidKey) { try key.signature(digest: Array(digest.dropLast())) }
    #expect(throws: CryptoError.invalidKey) { try key.signature(digest: digest + [0]) }
    #expect(throws: CryptoError.invalidKey) { try key.signature(digest: []) }
    #expect(!P256.isValidSignature([], digest: digest, publicKey: key.publicKey))
  }
}

/// A key that the macros of the tests can hold.
private final class SoftwareKey: Sendable {
  let key: P256PrivateKey

  init() { key = P256PrivateKey() }

  init(bytes: [UInt8], publicKey: [UInt8]) throws {
    let scalar = SecretBytes(copying: bytes.span.bytes)
    key = try P256PrivateKey(scalar: scalar, publicKey: publicKey)
  }

  var publicKey: [UInt8] { key.publicKey }
  var scalar: [UInt8] { key.scalar().withBytes { bytes(of: $0) } }

  func signature(digest: [UInt8]) throws(CryptoError) -> [UInt8] { try key.signature(digest: digest) }
}

/// A key from a scalar of any length; its public key by libcrypto's own multiplication.
private func softwareKey(scalar: [UInt8]) throws -> SoftwareKey {
  let significant = Array(scalar.drop { $0 == 0 })
  let padded = [UInt8](repeating: 0, count: 32 - significant.count) + significant
  let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
  let point = EC_POINT_new(group)
  let number = BN_bin2bn(padded, 32, nil)
  defer {
    BN_free(number)
    EC_POINT_free(point)
    EC_GROUP_free(group)
  }
  var bytes = [UInt8](repeating: 0, count: P256.publicKeyByteCount)
  let isMultiplied = EC_POINT_mul(group, point, number, nil, nil, nil) == 1
  let count = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
  try #require(isMultiplied && count == bytes.count)
  return try SoftwareKey(bytes: padded, publicKey: bytes)
}

/// What two sides agree on, nil when the point is refused as it should be.
private func agreed(_ key: SoftwareKey, _ peer: [UInt8]) -> [UInt8]? {
  do {
    return try key.key.sharedSecret(with: peer).withBytes { bytes(of: $0) }
  } catch {
    #expect(error == .invalidKey)
    return nil
  }
}

private func bytes(of span: RawSpan) -> [UInt8] { span.withUnsafeBytes { Array($0) } }
