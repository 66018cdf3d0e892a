// SPDX-License-Identifier: Apache-2.0
//
// Signatures and agreements against Wycheproof.

import LibCrypto
import Primitives
import Secrets
import TestVectors
import Testing

@testable import OpenPGP

@Suite("Published vectors of keys")
struct KeyVectorTests {
  @Test(
    "EdDSA accepts and refuses as Wycheproof says, and never an S that is not canonical",
    arguments: [
      ("wycheproof/ed25519", EVPKey.Kind.ed25519, [151, 88]), ("wycheproof/ed448", .ed448, [87, 17]),
    ])
  func eddsa(name: String, kind: EVPKey.Kind, counts: [Int]) throws {
    let rows = try VectorTable(name).rows
    var (valid, malleable) = (0, 0)
    for row in rows {
      let key = try EVPKey.native(kind, try row.bytes("publicKey"))
      let isValid = key.isValid(try row.bytes("sig"), message: try row.bytes("msg"))
      #expect(isValid == row.isValid, "\(row)")
      if isValid { valid += 1 }
      if row.has(flag: "SignatureMalleability") { malleable += 1 }
    }
    #expect([rows.count, valid] == counts && malleable == 8)
  }

  @Test("ECDSA with P-256 accepts and refuses as Wycheproof says")
  func ecdsa() throws {
    var (valid, invalid, otherSizes) = (0, 0, 0)
    for row in try VectorTable("wycheproof/ecdsa_secp256r1_sha256_p1363").rows {
      let signature = try row.bytes("sig")
      // The two numbers have no fixed size in OpenPGP, so one of another size cannot be put to it.
      guard signature.count == 64 else {
        otherSizes += 1
        continue
      }
      let point = MPI(try row.bytes("publicKey"))
      let key = PublicKey(
        version: 6, creationTime: Timestamp(secondsSince1970: 0), algorithm: .ecdsa,
        material: .ecdsa(.p256, point: point))
      let material = SignatureMaterial.ecdsa(
        r: MPI(Array(signature.prefix(32))), s: MPI(Array(signature.suffix(32))))
      let message = try row.bytes("msg")
      let digest = SHA256.hash(message.span.bytes)
      let isValid = try key.isValid(material, digest: digest, hash: .sha256)
      #expect(isValid == row.isValid, "\(row)")
      if isValid { valid += 1 } else { invalid += 1 }
    }
    #expect([valid, invalid, otherSizes] == [173, 68, 21])
  }

  @Test(
    "X25519 and X448 agree as Wycheproof says, and refuse a secret of zeros",
    arguments: [
      ("wycheproof/x25519", EVPKey.Kind.x25519, [487, 31, 0]), ("wycheproof/x448", .x448, [487, 11, 12]),
    ])
  func montgomery(name: String, kind: EVPKey.Kind, counts: [Int]) throws {
    var (agreed, zero, malformed) = (0, 0, 0)
    for row in try VectorTable(name).rows {
      let (scalar, octets) = (try row.bytes("private"), try row.bytes("public"))
      guard try row.text("result") != "invalid" else {
        malformed += 1
        #expect(throws: OpenPGPError.malformed(.publicKey), "\(row)") {
          _ = try EVPKey.native(kind, octets).isPair
        }
        continue
      }
      let expected = try row.bytes("shared")
      if expected.allSatisfy({ $0 == 0 }) {
        zero += 1
        #expect(throws: OpenPGPError.notAuthentic, "\(row)") {
          _ = try secret(kind, scalar, octets)
        }
      } else {
        agreed += 1
        #expect(try secret(kind, scalar, octets) == expected, "\(row)")
      }
    }
    #expect([agreed, zero, malformed] == counts)
  }

  private func secret(_ kind: EVPKey.Kind, _ scalar: [UInt8], _ octets: [UInt8]) throws -> [UInt8] {
    guard let mine = EVPKey.make(kind, secretOctets: scalar.span.bytes) else { return [] }
    let secret = try mine.agreedSecret(with: try EVPKey.native(kind, octets))
    return secret.withBytes { [UInt8](copying: $0) }
  }

  @Test("ECDH with P-256 agrees as Wycheproof says, and refuses points off the curve")
  func ecdh() throws {
    var (agreed, refused) = (0, 0)
    for row in try VectorTable("wycheproof/ecdh_secp256r1_ecpoint").rows {
      let point = MPI(try row.bytes("public"))
      if row.isValid {
        agreed += 1
        let (scalar, expected) = (try row.bytes("private"), try row.bytes("shared"))
        guard expected.contains(where: { $0 != 0 }) else {
          // A point of the curve, and one that nobody meets by chance.
          #expect(throws: OpenPGPError.notAuthentic) { _ = try secret(scalar, point) }
          continue
        }
        #expect(try secret(scalar, point) == expected, "\(row)")
      } else {
        // OpenPGP has no compressed points.
        refused += 1
        #expect(throws: OpenPGPError.malformed(.publicKey), "\(row)") {
          _ = try EVPKey.publicKey(.p256, point: point).isPair
        }
      }
    }
    #expect(agreed == 330 && refused == 25)
  }

  private func secret(_ scalar: [UInt8], _ point: MPI) throws -> [UInt8] {
    let theirs = try EVPKey.publicKey(.p256, point: point)
    // Agreement takes no account of the own public point, so another one will do.
    let made = EVPKey.make(
      .ellipticCurve, [(.privateValue, BigNumber(scalar.span.bytes))], isPrivate: true,
      group: "P-256", point: point.bytes)
    guard let made else { return [] }
    return try made.agreedSecret(with: theirs).withBytes { [UInt8](copying: $0) }
  }
}
