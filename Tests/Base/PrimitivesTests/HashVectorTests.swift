// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 against NIST's CAVP: short messages, whole and byte by byte, and the Monte Carlo chain.

import Primitives
import Testing

@Suite("SHA-256 vectors", .enabled(if: VectorFile.isPresent, VectorFile.absence))
struct HashVectorTests {
  @Test(
    "NIST's short messages give their digest, in one piece and byte by byte",
    arguments: [VectorFile("nist/sha2/SHA256ShortMsg.rsp", ran: 65)])
  func shortMessages(_ file: VectorFile) throws {
    var ran = 0
    for record in NISTRecord.all(in: try file.contents()) where record.fields["Msg"] != nil {
      ran += 1
      let message = Array(try record.bytes("Msg").prefix(try record.integer("Len") / 8))
      let expected = try record.bytes("MD")
      #expect(SHA256.hash(message.span.bytes) == expected)
      var hash = SHA256()
      for byte in message { hash.update(([byte] as [UInt8]).span.bytes) }
      #expect(hash.finish() == expected)
    }
    file.report(ran: ran)
  }

  @Test(
    "NIST's Monte Carlo chain of 100,000 digests comes out",
    arguments: [VectorFile("nist/sha2/SHA256Monte.rsp", ran: 100)])
  func monteCarlo(_ file: VectorFile) throws {
    let records = NISTRecord.all(in: try file.contents())
    let first = try #require(records.first { $0.fields["Seed"] != nil })
    var seed = try first.bytes("Seed")
    var ran = 0
    for record in records where record.fields["COUNT"] != nil {
      var message = seed + seed + seed
      for _ in 0..<1_000 {
        let digest = SHA256.hash(message.span.bytes)
        message.removeFirst(SHA256.byteCount)
        message += digest
      }
      seed = Array(message.suffix(SHA256.byteCount))
      #expect(seed == (try record.bytes("MD")), "COUNT = \(ran)")
      ran += 1
    }
    file.report(ran: ran)
  }
}
