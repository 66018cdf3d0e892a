// SPDX-License-Identifier: Apache-2.0

public import Enclaves
internal import Primitives
public import ProtectedData
public import Secrets

/// The user's authentication: a finger, the passphrase or PIN, or both.
public struct CustodyAuthorization: Sendable {
  private let finger: (any BiometryVerifier)?
  private let passcode: SharedSecretBytes?

  /// - Parameters:
  ///   - finger: from ``PrivateKeyCustody/fingerVerifier(_:)``.
  ///   - owner: the owner key, 32 bytes, which opening a slot of the keybag gives.
  public init(finger: (any BiometryVerifier)? = nil, owner: SharedSecretBytes? = nil) {
    self.finger = finger
    passcode = owner.map { owner in
      SharedSecretBytes(owner.withBytes { HKDF.secret(from: $0, info: "coffer custody v1 passcode") })
    }
  }

  /// The authorization for envelopes of a mode.
  /// - Throws: `CustodyError.fingerRequired`, `.passcodeRequired`.
  func key(for mode: AuthenticationMode) throws(CustodyError) -> KeyAuthorization {
    switch mode {
    case .standard:
      if let passcode { return .passcode(passcode) }
      guard let finger else { throw .passcodeRequired }
      return .biometry(finger)
    case .highSecurity:
      guard let finger else { throw .fingerRequired }
      return .biometry(finger)
    }
  }

  /// The enrolment of new keys of a mode.
  /// - Throws: `CustodyError.passcodeRequired`: a finger alone cannot set the passcode.
  func enrolment(for mode: AuthenticationMode, fingerKey: [UInt8]) throws(CustodyError) -> KeyEnrolment {
    switch mode {
    case .standard:
      guard let passcode else { throw .passcodeRequired }
      return KeyEnrolment(passcode: .random(passcode), biometryVerifier: fingerKey)
    case .highSecurity:
      return KeyEnrolment(biometryVerifier: fingerKey)
    }
  }
}

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
