// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// The use of a key; no key has both.
public enum EnclaveKeyUse: UInt8, Sendable, CaseIterable {
  /// ECDH, for ``Enclave/sharedSecret(_:with:authorization:)``.
  case agreement = 1
  /// ECDSA, for ``Enclave/signature(_:digest:authorization:)``.
  case signing = 2
}

/// When a key can be loaded, and what each use asks for. It is fixed when the key is made.
public struct AccessControl: Equatable, Sendable {
  /// When the key can be loaded. On Linux the handle is a keychain item of that class.
  public enum Protection: UInt8, Sendable, CaseIterable {
    /// While the coffer is unlocked.
    case whenUnlockedThisDeviceOnly = 1
    /// From the first unlock until logout or reboot, also while the coffer is locked.
    case afterFirstUnlockThisDeviceOnly = 2
    /// While the coffer is unlocked, and on Apple's systems only on a device with a passcode.
    case whenPasscodeSetThisDeviceOnly = 3
  }

  /// The factors that each use asks for.
  public enum Requirement: UInt8, Sendable, CaseIterable {
    /// Nothing: private-key usage alone.
    case none = 0
    /// The PIN or passphrase that was enrolled with the key.
    case devicePasscode = 1
    /// An enrolled finger, or the passcode (AM-01).
    case biometryAnyOrDevicePasscode = 2
    /// An enrolled finger and nothing else (AM-02); fingers enrolled later count too (AM-03).
    case biometryAny = 3
  }

  /// When the key can be loaded.
  public var protection: Protection
  /// What each use of the key asks for.
  public var requirement: Requirement

  /// A key that can be loaded as `protection` says; by default, no use asks for anything.
  public init(_ protection: Protection, requirement: Requirement = .none) {
    self.protection = protection
    self.requirement = requirement
  }
}

/// The enrolment of a new key: the factors that it will ask for.
public struct KeyEnrolment: Sendable {
  /// The passcode of later uses. The enclave sees only a value derived from it.
  public enum Passcode: Sendable {
    /// A PIN or passphrase, as typed; stretched where nothing counts wrong tries.
    case typed(SharedSecretBytes)
    /// 32 uniformly random bytes that nobody types. Nobody guesses them, so they are not stretched.
    case random(SharedSecretBytes)
  }

  /// Set if, and only if, the key's requirement takes a passcode.
  public var passcode: Passcode?
  /// The public key of the ``BiometryVerifier``: 65 bytes (SEC 1, 2.3.3).
  public var biometryVerifier: [UInt8]?

  /// What to enrol with a new key; empty for a key whose uses ask for nothing.
  ///
  /// - Parameters:
  ///   - passcode: what later uses are asked for.
  ///   - biometryVerifier: the public key of the finger's verifier, 65 bytes.
  public init(passcode: Passcode? = nil, biometryVerifier: [UInt8]? = nil) {
    self.passcode = passcode
    self.biometryVerifier = biometryVerifier
  }
}

/// The authorization for one use of a key.
public enum KeyAuthorization: Sendable {
  /// Nothing: for keys with ``AccessControl/Requirement/none``, and for keys whose system asks by itself.
  case none
  /// The PIN or passphrase as typed, or the random passcode: whichever was enrolled.
  case passcode(SharedSecretBytes)
  /// A reader that has just recognised a finger.
  case biometry(any BiometryVerifier)
}

/// Signs an enclave's challenge after a finger was recognised.
///
/// It is asked in the middle of an operation, and MUST NOT call the enclave that asks it.
public protocol BiometryVerifier: Sendable {
  /// 65 bytes (SEC 1, 2.3.3).
  var publicKey: [UInt8] { get }
  /// ECDSA over the SHA-256 digest of a challenge; DER.
  func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8]
}
