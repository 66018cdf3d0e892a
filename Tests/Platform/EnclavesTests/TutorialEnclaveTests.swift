// SPDX-License-Identifier: Apache-2.0

import Primitives
import Secrets
import Testing

@testable import Enclaves

@Suite("The tutorial's enclave")
struct TutorialEnclaveTests {
  @Test("D29: its handles are of a kind of their own, and no other enclave accepts them, nor it theirs")
  func apart() throws {
    let (tutorial, software) = (TutorialEnclave(), SoftwareEnclave())
    let access = AccessControl(.whenUnlockedThisDeviceOnly, requirement: .none)
    let mine = try tutorial.createKey(use: .agreement, access: access, enrolment: KeyEnrolment())
    let its = try software.createKey(use: .agreement, access: access, enrolment: KeyEnrolment())
    #expect(mine.kind == .tutorial && !mine.kind.isHardware)
    let handle = mine.handle.withBytes { [UInt8](copying: $0) }
    #expect(EnclaveKind(handle: handle) == .tutorial)
    #expect(throws: EnclaveError.wrongKind) { try software.loadKey(handle) }
    #expect(throws: EnclaveError.wrongKind) {
      try tutorial.loadKey(its.handle.withBytes { [UInt8](copying: $0) })
    }
    let other = P256PrivateKey().publicKey
    #expect(throws: EnclaveError.wrongKind) {
      _ = try software.sharedSecret(mine, with: other, authorization: .none)
    }
    #expect(throws: EnclaveError.wrongKind) {
      _ = try tutorial.sharedSecret(its, with: other, authorization: .none)
    }
    let loaded = try tutorial.loadKey(handle)
    #expect(try tutorial.sharedSecret(loaded, with: other, authorization: .none).count == 32)
  }
}
