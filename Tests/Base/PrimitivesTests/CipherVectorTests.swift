// SPDX-License-Identifier: Apache-2.0
//
// AES-256-GCM against Wycheproof and NIST's CAVP: keys of 256 bits, nonces of 96, tags of 128. Rows of
// other sizes cannot be put to `AES256GCM`, which takes no other.

import Foundation
import Primitives
import Testing

@Suite("AES-256-GCM vectors", .enabled(if: VectorFile.isPresent, VectorFile.absence))
struct CipherVectorTests {
  struct GCMRow: Decodable {
    let tcId: Int
    let key, iv, aad, msg, ct, tag, result: String
  }

  @Test(
    "Wycheproof's AES-GCM rows seal and open as they say",
    arguments: [VectorFile("wycheproof/aes_gcm_test.json", ran: 66, notApplicable: 250)])
  func wycheproof(_ file: VectorFile) throws {
    var (ran, notApplicable) = (0, 0)
    let content = try file.json(Wycheproof<GCMRow>.self)
    for group in content.testGroups {
      guard group.keySize == 256, group.ivSize == 96, group.tagSize == 128 else {
        notApplicable += group.tests.count
        continue
      }
      for row in group.tests {
        ran += 1
        let (key, nonce, aad) = (try hexBytes(row.key), try hexBytes(row.iv), try hexBytes(row.aad))
        let plaintext = try hexBytes(row.msg)
        let ciphertext = try hexBytes(row.ct + row.tag)
        let (mine, inPlace) = (
          try sealed(plaintext, key: key, nonce: nonce, aad: aad),
          try sealedInPlace(plaintext, key: key, nonce: nonce, aad: aad)
        )
        let result = opened(ciphertext, key: key, nonce: nonce, aad: aad)
        #expect(mine == inPlace, "row \(row.tcId)")
        if row.result == "valid" {
          #expect(mine == ciphertext, "row \(row.tcId)")
          #expect(result == Opened(error: nil, output: plaintext), "row \(row.tcId)")
        } else {
          #expect(mine != ciphertext, "row \(row.tcId)")
          #expect(result.error == .authenticationFailed, "row \(row.tcId)")
          #expect(
            result.output.allSatisfy { $0 == 0 }, "row \(row.tcId): plaintext left in the output")
        }
      }
    }
    #expect(content.numberOfTests == ran + notApplicable)
    file.report(ran: ran, notApplicable: notApplicable)
  }

  private func isOurs(_ record: NISTRecord) throws -> Bool {
    try record.integer("IVlen") == 96 && record.integer("Taglen") == 128
      && record.integer("Keylen") == 256
  }

  @Test(
    "NIST's encryption records give their ciphertext and tag",
    arguments: [VectorFile("nist/gcm/gcmEncryptExtIV256.rsp", ran: 375, notApplicable: 7_500)])
  func nistEncrypt(_ file: VectorFile) throws {
    var (ran, notApplicable) = (0, 0)
    for record in NISTRecord.all(in: try file.contents()) {
      guard try isOurs(record) else {
        notApplicable += 1
        continue
      }
      ran += 1
      let (key, nonce, aad) = (
        try record.bytes("Key"), try record.bytes("IV"), try record.bytes("AAD")
      )
      let plaintext = try record.bytes("PT")
      let expected = try record.bytes("CT") + record.bytes("Tag")
      #expect(try sealed(plaintext, key: key, nonce: nonce, aad: aad) == expected)
      #expect(try sealedInPlace(plaintext, key: key, nonce: nonce, aad: aad) == expected)
      #expect(
        opened(expected, key: key, nonce: nonce, aad: aad) == Opened(error: nil, output: plaintext))
    }
    file.report(ran: ran, notApplicable: notApplicable)
  }

  @Test(
    "NIST's decryption records open, or fail and leave nothing",
    arguments: [VectorFile("nist/gcm/gcmDecrypt256.rsp", ran: 375, notApplicable: 7_500)])
  func nistDecrypt(_ file: VectorFile) throws {
    var (ran, notApplicable, failures) = (0, 0, 0)
    for record in NISTRecord.all(in: try file.contents()) {
      guard try isOurs(record) else {
        notApplicable += 1
        continue
      }
      ran += 1
      let ciphertext = try record.bytes("CT") + record.bytes("Tag")
      let result = opened(
        ciphertext, key: try record.bytes("Key"), nonce: try record.bytes("IV"),
        aad: try record.bytes("AAD"))
      if record.isFailure {
        failures += 1
        #expect(result.error == .authenticationFailed)
        #expect(result.output.allSatisfy { $0 == 0 }, "plaintext left in the output")
      } else {
        #expect(result == Opened(error: nil, output: try record.bytes("PT")))
      }
    }
    #expect(failures == 191)
    file.report(ran: ran, notApplicable: notApplicable, note: "; \(failures) had to fail")
  }
}
