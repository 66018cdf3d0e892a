// SPDX-License-Identifier: Apache-2.0
//
// SLH-DSA against NIST. A signature of a small set takes long, so that runs share them (Tests/Support/Extents).

import Extents
import Secrets
import TestVectors
import Testing

@testable import PostQuantum

@Suite("SLH-DSA vectors")
struct SLHDSAVectorTests {
  @Test("NIST's private keys have the public keys that they should")
  func keyGeneration() throws {
    let rows = try VectorTable("nist/slhdsa_keygen").rows
    for row in rows {
      #expect(try SLHDSA.of(row).publicKey(secretKey: row.bytes("sk")) == row.bytes("pk"), "\(row)")
    }
    #expect(rows.count == 30)
  }

  @Test("NIST's prompts give the signatures that others computed", arguments: SLHDSA.allCases)
  func signing(_ scheme: SLHDSA) throws {
    let rows = try VectorTable("nist/slhdsa_sign").rows.filter { try SLHDSA.of($0) == scheme }
    #expect(rows.count == 28)
    for row in Shares("SLH-DSA signatures, \(scheme)", count: scheme == .shake128f ? 1 : 4).of(rows) {
      let secretKey = try row.bytes("sk")
      let random = try row.bytes("random")
      let signature = scheme.sign(
        try Self.message(row), secretKey: secretKey.span.bytes,
        random: random.isEmpty ? Array(secretKey[2 * scheme.n..<3 * scheme.n]) : random)
      #expect(sha256(signature) == (try row.text("sigDigest")), "\(row)")
      #expect(
        scheme.isValid(signature, of: try Self.message(row), publicKey: Array(secretKey.suffix(2 * scheme.n)))
      )
    }
  }

  @Test("Signatures are valid, or not")
  func verification() throws {
    let rows = try VectorTable("nist/slhdsa_verify").rows
    var good = 0
    for row in rows {
      let isValid = try SLHDSA.of(row).isValid(
        try row.bytes("signature"), of: try Self.message(row), publicKey: try row.bytes("pk"))
      #expect(isValid == row.isValid, "\(row)")
      good += isValid ? 1 : 0
    }
    #expect(rows.count == 33 && good == 5)
  }

  /// What is signed: in the outer interface, the message behind the length of the context and the context.
  private static func message(_ row: VectorRow) throws -> [[UInt8]] {
    let message = try row.bytes("message")
    guard try row.text("interface") == "external" else { return [message] }
    let context = try row.bytes("context")
    return [[0, UInt8(context.count)], context, message]
  }
}

extension SLHDSA {
  static func of(_ row: VectorRow) throws -> SLHDSA {
    switch try row.text("size") {
    case "SHAKE-128s": .shake128s
    case "SHAKE-128f": .shake128f
    case "SHAKE-256s": .shake256s
    case let other: throw UnknownSet(name: other)
    }
  }

  struct UnknownSet: Error {
    let name: String
  }
}
