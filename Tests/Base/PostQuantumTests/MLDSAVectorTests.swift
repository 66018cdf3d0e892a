// SPDX-License-Identifier: Apache-2.0
//
// ML-DSA against Wycheproof and NIST. Tables keep digests of what is made again here; contexts, which the package
// does not use, are tested where the vectors have them.

import CBoringSSLInternals
import Secrets
import TestVectors
import Testing

@testable import PostQuantum

@Suite("ML-DSA vectors")
struct MLDSAVectorTests {
  @Test("Seeds give NIST's public keys")
  func keyGeneration() throws {
    let rows = try VectorTable("nist/mldsa_keygen").rows
    for row in rows {
      let seed = try row.bytes("seed")
      let key = try MLDSA.of(row).publicKey(seed: seed)
      #expect(sha256(key) == (try row.text("pkDigest")), "\(row)")
    }
    #expect(rows.count == 50)
  }

  @Test(
    "Wycheproof's randomness gives its signatures; its signatures are valid, or not",
    arguments: MLDSA.allCases)
  func signatures(_ scheme: MLDSA) throws {
    let made = try Self.made(scheme)
    #expect(made.count == (scheme == .mldsa65 ? 84 : 75))
    let rows = try VectorTable("wycheproof/mldsa_\(scheme.rawValue)_verify").rows
    var (good, bad) = (0, 0)
    for row in rows {
      let reference = try row.text("sig")
      let signature = reference.hasPrefix("#") ? made[String(reference.dropFirst())] : try row.bytes("sig")
      guard let signature else {
        Issue.record("\(row) names a signature that was not made")
        continue
      }
      let isValid = scheme.isValid(
        signature, of: try row.bytes("msg"), context: try row.bytes("ctx"),
        publicKey: try row.bytes("publicKey"))
      #expect(isValid == row.isValid, "\(row)")
      if isValid { good += 1 } else { bad += 1 }
    }
    #expect(good + bad == (scheme == .mldsa65 ? 210 : 241) && good > 70 && bad > 130)
  }

  @Test("NIST's signatures are valid, or not")
  func nistVerification() throws {
    var good = 0
    let rows = try VectorTable("nist/mldsa_verify").rows
    for row in rows {
      let isValid = try MLDSA.of(row).isValid(
        try row.bytes("signature"), of: try row.bytes("message"), context: try row.bytes("context"),
        publicKey: try row.bytes("pk"))
      #expect(isValid == row.isValid, "\(row)")
      good += isValid ? 1 : 0
    }
    #expect(rows.count == 30 && good == 6)
  }

  /// The signatures that Wycheproof has for signing, made here and checked, by their ids.
  private static func made(_ scheme: MLDSA) throws -> [String: [UInt8]] {
    var signatures: [String: [UInt8]] = [:]
    for row in try VectorTable("wycheproof/mldsa_\(scheme.rawValue)_sign_seed").rows {
      let (seed, message) = (try row.bytes("seed"), try row.bytes("msg"))
      // Others give a hash in the message's place, which FIPS 204 leaves to hardware.
      guard seed.count == MLDSA.seedByteCount, !row.has(flag: "Internal") else { continue }
      let context = try row.bytes("ctx")
      let given = try row.bytes("rnd")
      let random = given.isEmpty ? [UInt8](repeating: 0, count: 32) : given
      var signature = [UInt8](repeating: 0, count: scheme.signatureByteCount)
      let worked = scheme.withPrivateKey(seed: seed.span.bytes) {
        known_mldsa_sign(
          scheme.rawValue, $0, message, message.count, context, context.count, random, &signature)
      }
      #expect((worked == 1) == row.isValid, "\(row)")
      guard worked == 1 else { continue }
      #expect(sha256(signature) == (try row.text("sigDigest")), "\(row)")
      let key = scheme.publicKey(seed: seed)
      #expect(sha256(key) == (try row.text("publicKeyDigest")), "\(row)")
      signatures[try row.text("id")] = signature
    }
    return signatures
  }
}

extension MLDSA {
  static func of(_ row: VectorRow) throws -> MLDSA { try row.integer("size") == 65 ? .mldsa65 : .mldsa87 }
}
