// SPDX-License-Identifier: Apache-2.0

public import Enclaves
internal import Primitives
public import ProtectedData
public import Secrets

/// The user's authentication: a finger, the passphrase or PIN, the guard, or several of them.
public struct CustodyAuthorization: Sendable {
  private let finger: (any BiometryVerifier)?
  private let passcode: SharedSecretBytes?
  /// Whether the passcode comes from a slot that was opened now; an agent's opens envelopes and seals none.
  private let isOwners: Bool
  let openGuard: OpenGuard?

  /// - Parameters:
  ///   - finger: from ``PrivateKeyCustody/fingerVerifier(_:)``.
  ///   - owner: the owner key, 32 bytes, which opening a slot of the keybag gives.
  ///   - guard: from ``PrivateKeyCustody/openGuard(pin:)``.
  public init(
    finger: (any BiometryVerifier)? = nil, owner: SharedSecretBytes? = nil, guard openGuard: OpenGuard? = nil
  ) {
    self.init(finger, owner.map(Self.passcode), isOwners: owner != nil, openGuard)
  }

  /// Uses private keys of mode *standard*, and changes none.
  /// - Parameter passcode: from ``passcode(owner:)``, as an agent kept it.
  public init(handedOn passcode: SharedSecretBytes) { self.init(nil, passcode, isOwners: false, nil) }

  private init(
    _ finger: (any BiometryVerifier)?, _ passcode: SharedSecretBytes?, isOwners: Bool,
    _ openGuard: OpenGuard?
  ) {
    self.finger = finger
    self.passcode = passcode
    self.isOwners = isOwners
    self.openGuard = openGuard
  }

  /// The passcode of private keys, 32 bytes. It opens envelopes, and can change no slot, passphrase or mode.
  /// - Parameter owner: the owner key, 32 bytes.
  public static func passcode(owner: SharedSecretBytes) -> SharedSecretBytes {
    SharedSecretBytes(owner.withBytes { HKDF.secret(from: $0, info: "coffer custody v1 passcode") })
  }

  /// The same, with a guard that was opened.
  public func with(guard openGuard: OpenGuard) -> CustodyAuthorization {
    CustodyAuthorization(finger, passcode, isOwners: isOwners, openGuard)
  }

  /// The same, with a finger that was recognised.
  /// - Parameter finger: from ``PrivateKeyCustody/fingerVerifier(_:)``.
  public func with(finger: any BiometryVerifier) -> CustodyAuthorization {
    CustodyAuthorization(finger, passcode, isOwners: isOwners, openGuard)
  }

  /// The authorization for the enclave's keys of a mode.
  /// - Throws: `CustodyError.fingerRequired`, `.passcodeRequired`, `.guardRequired`.
  func key(for mode: AuthenticationMode) throws(CustodyError) -> KeyAuthorization {
    switch mode {
    case .standard:
      guard let passcode else { throw .passcodeRequired }
      return .passcode(passcode)
    case .standardWithFinger:
      if let passcode { return .passcode(passcode) }
      guard let finger else { throw .passcodeRequired }
      return .biometry(finger)
    case .highSecurityWithFinger:
      guard let finger else { throw .fingerRequired }
      return .biometry(finger)
    case .highSecurityWithGuard:
      guard let passcode, isOwners else { throw .passcodeRequired }
      guard openGuard != nil else { throw .guardRequired }
      return .passcode(passcode)
    }
  }

  /// The enrolment of new keys of a mode.
  /// - Throws: `CustodyError.passcodeRequired`: neither a finger nor an agent sets the passcode.
  func enrolment(for mode: AuthenticationMode, fingerKey: [UInt8]) throws(CustodyError) -> KeyEnrolment {
    if mode == .highSecurityWithFinger { return KeyEnrolment(biometryVerifier: fingerKey) }
    guard let passcode, isOwners else { throw .passcodeRequired }
    return KeyEnrolment(
      passcode: .random(passcode), biometryVerifier: mode == .standardWithFinger ? fingerKey : nil)
  }
}

/// What every use of a private key asks for (AM-01, AM-02): in mode *standard* the passcode, or a finger if that
/// was switched on; in *high security* the passcode is not enough, so that decrypting, signing and exporting need
/// the guard.
public typealias AuthenticationMode = PrivateKeyControl.AuthMode

extension AuthenticationMode {
  /// Whether the passphrase or PIN of a slot is not enough.
  public var isHighSecurity: Bool { self == .highSecurityWithFinger || self == .highSecurityWithGuard }

  /// Whether a recognised finger opens private keys.
  public var takesFinger: Bool { self == .highSecurityWithFinger || self == .standardWithFinger }

  /// What the enclave's keys of this mode ask for.
  var access: AccessControl {
    switch self {
    case .standard, .highSecurityWithGuard:
      AccessControl(.whenUnlockedThisDeviceOnly, requirement: .devicePasscode)
    case .standardWithFinger:
      AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAnyOrDevicePasscode)
    case .highSecurityWithFinger: AccessControl(.whenUnlockedThisDeviceOnly, requirement: .biometryAny)
    }
  }

  /// The mode that an envelope with this key is of; nil when it does not match a mode.
  /// - Parameter isGuarded: whether the envelope names a guard record (version 2).
  init?(_ key: EnclaveKey, isGuarded: Bool) {
    let mode = Self.allCases.first { $0.access == key.access && ($0 == .highSecurityWithGuard) == isGuarded }
    guard key.use == .agreement, let mode else { return nil }
    self = mode
  }
}
