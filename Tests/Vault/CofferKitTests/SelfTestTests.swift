// SPDX-License-Identifier: Apache-2.0
//
// The self-test passes, and each of its rows can fail.

import Enclaves
import Secrets
import Testing

@testable import CofferKit

@Suite("Self-test")
struct SelfTestTests {
  /// Makes keys and agrees with none of them.
  private struct StubbornEnclave: Enclave {
    private let below = SoftwareEnclave()
    var kind: EnclaveKind { below.kind }
    func checkAvailability() throws(EnclaveError) {}
    func checkReadiness() throws(EnclaveError) {}
    func createKey(
      use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
    ) throws(EnclaveError) -> EnclaveKey {
      try below.createKey(use: use, access: access, enrolment: enrolment)
    }
    func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey { try below.loadKey(handle) }
    func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}
    func sharedSecret(
      _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> SecretBytes {
      throw .notAnswering
    }
    func signature(
      _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
    ) throws(EnclaveError) -> [UInt8] {
      throw .notAnswering
    }
  }

  private static let order: [String] =
    ["crypto digests", "crypto sealed_data", "crypto keys_and_randomness"]
    + ["universal", "advanced"].flatMap { group in
      [
        "make_identity", "encrypt_and_decrypt", "changed_message", "sign_and_verify", "changed_text",
        "backup_and_import", "public_part_url", "revocation",
      ].map { "\(group) \($0)" }
    } + ["custody seal_and_open"]

  @Test("Every row passes here, in the order of the report, unless the memory does not allow it")
  func passes() {
    var told = 0
    let rows = SelfTest().run { _ in told += 1 }
    #expect(rows.map { "\($0.group.rawValue) \($0.check.rawValue)" } == Self.order)
    #expect(told == rows.count)
    for row in rows {
      #expect(
        row.result == .passed || row.check == .backupAndImport && row.result == .notPossible,
        "\(row.group.rawValue) \(row.check.rawValue)")
    }
  }

  @Test("Each row fails when what one half of it gives to the other is disturbed")
  func canFail() {
    let rows = SelfTest(enclave: SoftwareEnclave()) { _, _, bytes in
      // One octet is the bit that a row changes: then nothing is changed, and nothing refused.
      if bytes.count == 1 { bytes[0] = 0 } else { bytes.removeLast(bytes.count / 2) }
    }.run()
    for row in rows where row.check != .makeIdentity {
      #expect(
        row.result == .failed || row.check == .backupAndImport && row.result == .notPossible,
        "\(row.group.rawValue) \(row.check.rawValue)")
    }
    #expect(rows.count { $0.check == .makeIdentity && $0.result == .passed } == 2)
  }

  @Test("An enclave that does not answer fails each row that needs it; no refusal is taken for a success")
  func enclaveFails() {
    let rows = SelfTest(enclave: StubbornEnclave()) { _, _, _ in }.run()
    #expect(rows.allSatisfy { $0.result == ($0.group == .crypto ? .passed : .failed) })
    #expect(rows.count == Self.order.count)
  }

  @Test("What the machine lacks is told and is no failure")
  func facts() {
    let facts = MachineFacts(Machine(enclaves: [SoftwareEnclave()]), nil)
    #expect(facts.chip == .none)
    #expect(MachineFacts(Machine(tcti: "device:/nonexistent/tpm"), nil).chip == .none)
  }
}
