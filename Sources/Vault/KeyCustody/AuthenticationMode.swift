// SPDX-License-Identifier: Apache-2.0

internal import Enclaves
public import ProtectedData

/// What every use of a private key asks for (AM-01, AM-02): in mode *standard* a finger or the passcode, in
/// *high security* a finger and nothing else, so that decrypting, signing and exporting need a reader.
public typealias AuthenticationMode = PrivateKeyControl.AuthMode

extension AuthenticationMode {
  /// What the enclave's keys of this mode ask for.
  var access: AccessControl {
    switch self {
    case .standard: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAnyOrDevicePasscode)
    case .highSecurity: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAny)
    }
  }

  /// The mode that a key in an enclave was made for; nil when it does not match a mode.
  init?(_ key: EnclaveKey) {
    let mode = Self.allCases.first { $0.access == key.access }
    guard key.use == .agreement, let mode else { return nil }
    self = mode
  }
}
