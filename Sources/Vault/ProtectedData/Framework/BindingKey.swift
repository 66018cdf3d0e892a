// SPDX-License-Identifier: Apache-2.0
//
// The device-binding key (PD-05, PD-06): an enclave key for agreement that nothing else uses. Its use asks
// for neither finger nor passcode: that would be a second factor that no user expects.

internal import Enclaves
internal import Keychains
internal import Primitives
internal import Secrets

enum BindingKey {
  static let account = "com.cypherair.v1.protected-data.binding-key"
  static let access = AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .none)

  /// A key and the enclave that holds it.
  struct Found {
    let key: EnclaveKey
    let enclave: any Enclave
  }

  static func create(in enclave: any Enclave) throws(ProtectedDataError) -> Found {
    do throws(EnclaveError) {
      let key = try enclave.createKey(use: .agreement, access: access, enrolment: KeyEnrolment())
      return Found(key: key, enclave: enclave)
    } catch { throw .enclave(error) }
  }

  /// The key of this coffer.
  /// - Throws: framework recovery when it is gone or is not the key of the envelope (PD-06);
  ///   `.enclaveMissing`, `.enclave`.
  static func load(
    _ handle: SharedSecretBytes, _ enclaves: (EnclaveKind) -> (any Enclave)?
  ) throws(ProtectedDataError) -> Found {
    guard let kind = handle.withBytes({ EnclaveKind(handle: $0) }) else {
      throw .frameworkRecovery(.bindingKeyUnusable)
    }
    guard let enclave = enclaves(kind) else { throw .enclaveMissing(kind) }
    let key: EnclaveKey
    do {
      key = try handle.withBytes { handle throws(EnclaveError) in try enclave.loadKey(handle) }
    } catch { throw sorted(error) }
    guard key.use == .agreement, key.access == access else { throw .frameworkRecovery(.bindingKeyUnusable) }
    return Found(key: key, enclave: enclave)
  }

  /// The key of this coffer, or a new one of `kind` if there is none.
  static func loadOrCreate(
    _ keychain: KeychainService, _ enclaves: (EnclaveKind) -> (any Enclave)?, _ kind: EnclaveKind
  ) throws(ProtectedDataError) -> Found {
    if let handle = try keychain.protectedItem(account, damaged: .bindingKeyUnusable) {
      return try load(handle, enclaves)
    }
    guard let enclave = enclaves(kind) else { throw .enclaveMissing(kind) }
    return try create(in: enclave)
  }

  /// Tells a permanent failure of this key (framework recovery) from one that may pass.
  static func sorted(_ error: EnclaveError) -> ProtectedDataError {
    switch error {
    case .unavailable, .noLibrary, .notAnswering, .lockedOut, .counterRefused, .counterGone, .ownerPassword,
      .tryLater, .failed:
      .enclave(error)
    case .otherChip, .corrupt, .wrongKind, .invalidInput, .wrongPasscode, .authorizationRequired,
      .biometryRefused:
      .frameworkRecovery(.bindingKeyUnusable)
    }
  }
}
