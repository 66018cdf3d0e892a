// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// What a key is for; one key never does both.
public enum EnclaveKeyUse: UInt8, Sendable, CaseIterable {
  case agreement = 1
  case signing = 2
}

/// When and by whose leave a key can be used. It is fixed when the key is made.
public struct AccessControl: Equatable, Sendable {
  /// When the key is there at all. On Linux the handle is a keychain item of that class.
  public enum Protection: UInt8, Sendable, CaseIterable {
    case whenUnlockedThisDeviceOnly = 1
    case afterFirstUnlockThisDeviceOnly = 2
    case whenPasscodeSetThisDeviceOnly = 3
  }

  /// What each use needs, beyond that.
  public enum Requirement: UInt8, Sendable, CaseIterable {
    /// Nothing: private-key usage alone.
    case none = 0
    case devicePasscode = 1
    /// An enrolled finger, or the passcode (AM-01).
    case biometryAnyOrDevicePasscode = 2
    /// An enrolled finger and nothing else (AM-02); fingers enrolled later count too (AM-03).
    case biometryAny = 3
  }

  public var protection: Protection
  public var requirement: Requirement

  public init(_ protection: Protection, requirement: Requirement = .none) {
    self.protection = protection
    self.requirement = requirement
  }
}

/// What a new key will ask for.
public struct KeyEnrolment: Sendable {
  /// What later uses will be asked for. The enclave sees only what is derived from it.
  public enum Passcode: Sendable {
    /// A PIN or passphrase, as typed; stretched where nothing counts wrong tries.
    case typed(SharedSecretBytes)
    /// 32 uniformly random bytes that no person types. Nobody guesses them, so they are not stretched.
    case random(SharedSecretBytes)
  }

  public var passcode: Passcode?
  /// The public key of what answers for fingers: 65 bytes (SEC 1, 2.3.3).
  public var biometryVerifier: [UInt8]?

  public init(passcode: Passcode? = nil, biometryVerifier: [UInt8]? = nil) {
    self.passcode = passcode
    self.biometryVerifier = biometryVerifier
  }
}

/// What is offered for one use of a key.
public enum KeyAuthorization: Sendable {
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
