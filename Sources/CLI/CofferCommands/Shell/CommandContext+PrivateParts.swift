// SPDX-License-Identifier: Apache-2.0
//
// The right to use private parts. It is asked for after everything that can be refused without it: a command
// opens the coffer, with a session if there is one, checks, and only then calls `privateParts`.

internal import CofferKit
internal import Enclaves
internal import KeyCustody
internal import Keychains
internal import ProtectedData
internal import Secrets
internal import SecurityKeys
internal import UserAuthentication

/// A coffer, and what opens its private parts.
struct PrivateParts {
  /// Opened by its owner just now if something is to be sealed; else it may be a session's, which changes no slot
  /// and seals no private part.
  let coffer: Coffer
  /// After recovery from an interrupted change.
  let custody: PrivateKeyCustody
  /// For as long as the command runs; that of a finger for 30 seconds.
  let authorization: CustodyAuthorization
  /// Of the security key that opened the guard, if one did.
  var answer: SecurityKeyAnswer?
}

extension CommandContext {
  /// Asks for what the mode of the private keys wants, unless the options or an earlier prompt gave it: in *standard*
  /// the passphrase or PIN of a slot, or a finger if that was switched on; in *high-security* a finger, or the
  /// passphrase or PIN of a slot and the guard's PIN or security key. In *standard*, a session asks for nothing within the grace period.
  ///
  /// - Parameters:
  ///   - coffer: as the command opened it.
  ///   - opening: the command's options.
  ///   - purpose: what the private part is for, with the names as they may be shown: "to read a message for Ada".
  ///   - sealing: whether a private part is made or sealed again, which always takes the passphrase or PIN of a slot.
  ///   - leaving: the keys that are not opened. The guard is not asked for if there is no other one.
  func privateParts(
    _ coffer: Coffer, _ opening: OpeningOptions, _ purpose: String, sealing: Bool = false,
    leaving: LeftKeys = .none
  ) throws -> PrivateParts {
    var context = self
    context.purpose = purpose
    if try coffer.leavesEveryKey(leaving) { return try context.withOwner(coffer, opening) }
    switch try coffer.authenticationMode() {
    case .standard:
      if coffer.slot == nil, !sealing, let parts = try context.withGrace(coffer) { return parts }
      return try context.withOwner(coffer, opening)
    case .standardWithFinger:
      if coffer.slot == nil, !sealing, let parts = try context.withGrace(coffer) { return parts }
      if coffer.slot == nil, !sealing, let parts = try context.withFingerIfThere(coffer) { return parts }
      return try context.withOwner(coffer, opening)
    case .highSecurityWithFinger:
      // Before the passphrase, because asking for that would let wrong fingers count from none again.
      let finger = try context.finger(.deviceOwnerWithBiometrics, coffer)
      let owned = sealing ? try context.owned(coffer, opening) : coffer
      let custody = try owned.openPrivateKeys().custody
      guard let finger else { throw CustodyError.fingerRequired }
      return PrivateParts(
        coffer: owned, custody: custody, authorization: try owned.authorization(custody, finger: finger))
    case .highSecurityWithGuard:
      let parts = try context.withOwner(coffer, opening)
      let (opened, answer) = try context.openGuard(parts.custody, opening.guardPIN)
      return PrivateParts(
        coffer: parts.coffer, custody: parts.custody, authorization: parts.authorization.with(guard: opened),
        answer: answer)
    }
  }

  // MARK: The passphrase

  /// A slot was opened just now, or is asked for.
  private func owned(_ coffer: Coffer, _ opening: OpeningOptions) throws -> Coffer {
    coffer.slot != nil ? coffer : try open(opening, needing: .slot)
  }

  private func withOwner(_ coffer: Coffer, _ opening: OpeningOptions) throws -> PrivateParts {
    let owned = try owned(coffer, opening)
    let custody = try owned.openPrivateKeys().custody
    owned.beginGrace()
    return PrivateParts(coffer: owned, custody: custody, authorization: owned.authorization())
  }

  /// Within the grace period nobody is asked.
  private func withGrace(_ coffer: Coffer) throws -> PrivateParts? {
    guard let authorization = coffer.authorizationInGrace() else { return nil }
    return PrivateParts(
      coffer: coffer, custody: try coffer.openPrivateKeys().custody, authorization: authorization)
  }

  // MARK: The finger

  /// Nil when the passphrase is to be asked for instead.
  private func withFingerIfThere(_ coffer: Coffer) throws -> PrivateParts? {
    guard let finger = try finger(.deviceOwner, coffer) else { return nil }
    let custody = try coffer.openPrivateKeys().custody
    return PrivateParts(
      coffer: coffer, custody: custody, authorization: try coffer.authorization(custody, finger: finger))
  }

  /// Waits for a finger. Wrong ones are counted over all commands.
  /// - Returns: nil when the policy takes the passphrase, and it is to be asked for now.
  /// - Throws: `AuthenticationError`.
  func finger(_ policy: AuthenticationPolicy, _ coffer: Coffer) throws -> AuthenticatedContext? {
    let authenticator = UserAuthenticator(
      prompt: TerminalPrompt(on: CommandRun.current.environment.promptTerminal),
      reader: CommandSurroundings.current.fingerReader,
      guide: TerminalFingerprintGuide(on: CommandRun.current.environment.promptTerminal, purpose: purpose),
      count: coffer.fingerCount)
    let attempt = try AuthenticationAttempt()
    do {
      let found = try Interruption.stopping({ attempt.cancel() }) {
        try authenticator.recognise(policy, attempt: attempt)
      }
      if let found { return found }
    } catch let error as AuthenticationError {
      // A signal may also have interrupted a call to the reader, which then says that it failed.
      guard Interruption.isRequested else { throw error }
    }
    guard !Interruption.isRequested else { throw Failure.interrupted("nothing was written") }
    return nil
  }

  // MARK: The guard

  /// Opens the guard, with a security key or a PIN.
  private func openGuard(
    _ custody: PrivateKeyCustody, _ options: GuardPINOptions
  ) throws -> (OpenGuard, SecurityKeyAnswer?) {
    guard let keys = try custody.guardKeys() else { return (try openGuardByPIN(custody, options), nil) }
    let answer = try securityKeyAnswer(
      keys.keys.map(\.credential), salt: keys.salt, pin: try options.given(), option: "--guard-pin")
    return (try custody.openGuard(answer), answer)
  }

  /// Opens the guard with the PIN that the options give, or asks for it.
  private func openGuardByPIN(_ custody: PrivateKeyCustody, _ options: GuardPINOptions) throws -> OpenGuard {
    if let given = try options.given() { return try custody.openGuard(pin: given) }
    // A chip that takes no PIN now is named before anybody types one.
    try custody.checkGuard()
    let prompt = try prompt(
      for: "the guard's PIN", hint: "use --guard-pin-fd, --guard-pin-file, or COFFER_PINENTRY")
    var problem: String?
    for _ in 1...Self.promptTries {
      var request = request("PIN of the guard", problem: problem)
      request.byteCountLimit = PINPolicy.longest
      do {
        return try custody.openGuard(pin: SharedSecretBytes(Passphrase(utf8: prompt.ask(request))))
      } catch CustodyError.guardRefused(.wrongPasscode) {
        problem = "wrong PIN; the TPM has counted it"
      } catch let error as PassphraseError {
        problem = Failure(error).message
      }
    }
    throw CustodyError.guardRefused(.wrongPasscode)
  }
}

extension Coffer {
  /// Whether a change that leaves these keys behind opens no key at all.
  fileprivate func leavesEveryKey(_ left: LeftKeys) throws -> Bool {
    switch left {
    case .none: false
    case .lost: try openPrivateKeys().custody.places().values.allSatisfy(\.isLost)
    case .underLostGuard: true
    }
  }
}
