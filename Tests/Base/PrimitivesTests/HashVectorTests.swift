// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 against NIST's CAVP: short messages, whole and byte by byte, and the Monte Carlo chain.

import Primitives
import TestVectors
import Testing

@Suite("SHA-256 vectors")
struct HashVectorTests {
  @Test(
    "Short messages give their digest, in one piece and byte by byte",
    arguments: [("nist/sha256_short", 65), ("made-here/sha256", 3)])
  func shortMessages(_ name: String, count: Int) throws {
    let rows = try VectorTable(name).rows
    for row in rows {
      let (message, expected) = (try row.bytes("msg"), try row.bytes("md"))
      #expect(SHA256.hash(message.span.bytes) == expected, "\(row)")
      var hash = SHA256()
      for byte in message { hash.update(([byte] as [UInt8]).span.bytes) }
      #expect(hash.finish() == expected, "\(row)")
    }
    #expect(rows.count == count)
  }

  @Test("NIST's Monte Carlo chain of 100,000 digests comes out")
  func monteCarlo() throws {
    let rows = try VectorTable("nist/sha256_monte").rows
    for row in rows {
      let seed = try row.bytes("seed")
      var message = seed + seed + seed
      for _ in 0..<1_000 {
        let digest = SHA256.hash(message.span.bytes)
        message.removeFirst(SHA256.byteCount)
        message += digest
      }
      #expect(Array(message.suffix(SHA256.byteCount)) == (try row.bytes("md")), "\(row)")
    }
    #expect(rows.count == 100)
  }
}
