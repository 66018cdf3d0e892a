// SPDX-License-Identifier: Apache-2.0
//
// Signatures and agreements against Wycheproof.

import Foundation
import LibCrypto
import Primitives
import Secrets
import Testing

@testable import OpenPGP

@Suite("Published vectors of keys", .enabled(if: VectorFiles.arePresent, VectorFiles.absence))
struct KeyVectorTests {
  struct SignatureGroup: Decodable {
    struct Row: Decodable {
      let tcId: Int
      let msg, sig, result: String
      let flags: [String]
    }
    struct Key: Decodable { let pk, uncompressed: String? }
    let publicKey: Key
    let tests: [Row]
  }

  @Test(
    "EdDSA accepts and refuses as Wycheproof says, and never an S that is not canonical",
    arguments: [
      ("wycheproof/ed25519_test.json", EVPKey.Kind.ed25519), ("wycheproof/ed448_test.json", .ed448),
    ])
  func eddsa(path: String, kind: EVPKey.Kind) throws {
    let file = try VectorFiles.json(path, as: WycheproofFile<SignatureGroup>.self)
    var (valid, malleable, count) = (0, 0, 0)
    for group in file.testGroups {
      let octets = try hexadecimal(try #require(group.publicKey.pk))
      let key = try EVPKey.native(kind, octets)
      for row in group.tests {
        count += 1
        let isValid = key.isValid(try hexadecimal(row.sig), message: try hexadecimal(row.msg))
        #expect(isValid == (row.result == "valid"), "row \(row.tcId)")
        if isValid { valid += 1 }
        if row.flags.contains("SignatureMalleability") { malleable += 1 }
      }
    }
    #expect(count == file.numberOfTests)
    #expect(valid > 10 && malleable == 8)
  }

  @Test("ECDSA with P-256 accepts and refuses as Wycheproof says")
  func ecdsa() throws {
    let file = try VectorFiles.json(
      "wycheproof/ecdsa_secp256r1_sha256_p1363_test.json", as: WycheproofFile<SignatureGroup>.self)
    var (valid, invalid) = (0, 0)
    for group in file.testGroups {
      let point = MPI(try hexadecimal(try #require(group.publicKey.uncompressed)))
      let key = PublicKey(
        version: 6, creationTime: Timestamp(secondsSince1970: 0), algorithm: .ecdsa,
        material: .ecdsa(.p256, point: point))
      for row in group.tests {
        let signature = try hexadecimal(row.sig)
        // The two numbers have no fixed size in OpenPGP, so one of another size cannot be put to it.
        guard signature.count == 64 else { continue }
        let material = SignatureMaterial.ecdsa(
          r: MPI(Array(signature.prefix(32))), s: MPI(Array(signature.suffix(32))))
        let message = try hexadecimal(row.msg)
        let digest = SHA256.hash(message.span.bytes)
        let isValid = try key.isValid(material, digest: digest, hash: .sha256)
        #expect(isValid == (row.result == "valid"), "row \(row.tcId)")
        if isValid { valid += 1 } else { invalid += 1 }
      }
    }
    #expect(valid == 173 && invalid > 60)
  }

  struct AgreementGroup: Decodable {
    struct Row: Decodable {
      let tcId: Int
      let result, shared: String
      let `public`, `private`: String
      let flags: [String]
    }
    let tests: [Row]
  }

  @Test(
    "X25519 and X448 agree as Wycheproof says, and refuse a secret of zeros",
    arguments: [
      ("wycheproof/x25519_test.json", EVPKey.Kind.x25519), ("wycheproof/x448_test.json", .x448),
    ])
  func montgomery(path: String, kind: EVPKey.Kind) throws {
    let file = try VectorFiles.json(path, as: WycheproofFile<AgreementGroup>.self)
    var (agreed, zero) = (0, 0)
    for row in file.testGroups.flatMap({ $0.tests }) {
      let (scalar, octets) = (try hexadecimal(row.private), try hexadecimal(row.public))
      guard row.result != "invalid" else {
        #expect(throws: OpenPGPError.malformed(.publicKey), "row \(row.tcId)") {
          _ = try EVPKey.native(kind, octets).isPair
        }
        continue
      }
      let expected = try hexadecimal(row.shared)
      if expected.allSatisfy({ $0 == 0 }) {
        zero += 1
        #expect(throws: OpenPGPError.notAuthentic, "row \(row.tcId)") {
          _ = try secret(kind, scalar, octets)
        }
      } else {
        agreed += 1
        #expect(try secret(kind, scalar, octets) == expected, "row \(row.tcId)")
      }
    }
    #expect(agreed > 450 && zero >= 8)
  }

  private func secret(_ kind: EVPKey.Kind, _ scalar: [UInt8], _ octets: [UInt8]) throws -> [UInt8] {
    guard let mine = EVPKey.make(kind, secretOctets: scalar.span.bytes) else { return [] }
    let secret = try mine.agreedSecret(with: try EVPKey.native(kind, octets))
    return secret.withBytes { [UInt8](copying: $0) }
  }

  @Test("ECDH with P-256 agrees as Wycheproof says, and refuses points off the curve")
  func ecdh() throws {
    let file = try VectorFiles.json(
      "wycheproof/ecdh_secp256r1_ecpoint_test.json", as: WycheproofFile<AgreementGroup>.self)
    var (agreed, refused) = (0, 0)
    for row in file.testGroups.flatMap({ $0.tests }) {
      let point = MPI(try hexadecimal(row.public))
      if row.result == "valid" {
        agreed += 1
        let (scalar, expected) = (try hexadecimal(row.private), try hexadecimal(row.shared))
        guard expected.contains(where: { $0 != 0 }) else {
          // A point of the curve all the same, and one that nobody meets by chance.
          #expect(throws: OpenPGPError.notAuthentic) { _ = try secret(scalar, point) }
          continue
        }
        #expect(try secret(scalar, point) == expected, "row \(row.tcId)")
      } else {
        // Compressed points are none in OpenPGP.
        refused += 1
        #expect(throws: OpenPGPError.malformed(.publicKey), "row \(row.tcId)") {
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
