// SPDX-License-Identifier: Apache-2.0

public import Enclaves

/// What every use of a private key asks for (AM-01, AM-02). The numbers are stored.
public enum AuthenticationMode: UInt8, Sendable, CaseIterable {
  /// A finger, or the passcode.
  case standard = 1
  /// A finger and nothing else: without a reader that works, decrypting, signing and exporting wait.
  case highSecurity = 2

  /// What the enclave's keys of this mode ask for.
  public var access: AccessControl {
    switch self {
    case .standard: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAnyOrDevicePasscode)
    case .highSecurity: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAny)
    }
  }

  /// The mode that a key in an enclave was made for; nil when it is none of ours.
  init?(_ key: EnclaveKey) {
    let mode = Self.allCases.first { $0.access == key.access }
    guard key.use == .agreement, let mode else { return nil }
    self = mode
  }
}
