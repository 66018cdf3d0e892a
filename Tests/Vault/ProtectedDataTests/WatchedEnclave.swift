// SPDX-License-Identifier: Apache-2.0

import Enclaves
import Secrets
import Synchronization

/// The software enclave, counted, and sometimes out of order.
final class WatchedEnclave: Enclave {
  private struct State {
    var agreements = 0
    var calls = 0
    var error: EnclaveError?
    var agreementError: EnclaveError?
    var created: [EnclaveKey] = []
  }

  let kind = EnclaveKind.software
  private let inner = SoftwareEnclave()
  private let state = Mutex(State())

  var agreements: Int { state.withLock { $0.agreements } }
  var calls: Int { state.withLock { $0.calls } }
  var created: [EnclaveKey] { state.withLock { $0.created } }

  /// Everything fails from now on; nil ends that.
  func fail(_ error: EnclaveError?) { state.withLock { $0.error = error } }

  /// Every agreement fails from now on, and nothing else; nil ends that.
  func failAgreement(_ error: EnclaveError?) { state.withLock { $0.agreementError = error } }

  /// Starts counting anew.
  func forget() {
    state.withLock {
      $0.agreements = 0
      $0.calls = 0
    }
  }

  private func called() throws(EnclaveError) {
    let error = state.withLock { state in
      state.calls += 1
      return state.error
    }
    if let error { throw error }
  }

  func checkAvailability() throws(EnclaveError) { try called() }
  func checkReadiness() throws(EnclaveError) { try called() }

  func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey {
    try called()
    let key = try inner.createKey(use: use, access: access, enrolment: enrolment)
    state.withLock { $0.created.append(key) }
    return key
  }

  func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey {
    try called()
    return try inner.loadKey(handle)
  }

  func deleteKey(_ key: EnclaveKey) throws(EnclaveError) { try called() }

  func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    try called()
    let error = state.withLock { state in
      state.agreements += 1
      return state.agreementError
    }
    if let error { throw error }
    return try inner.sharedSecret(key, with: publicKey, authorization: authorization)
  }

  func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] { throw .invalidInput }
}
