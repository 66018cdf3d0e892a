// SPDX-License-Identifier: Apache-2.0
//
// Private parts out of GnuPG, open and in locked memory. gpg wants the passphrase to give one out, and what comes is
// protected with the same one: it is asked for once.

internal import CofferKit
internal import GnuPG
internal import Identities
internal import Secrets
internal import UserAuthentication

/// Takes private parts, one after the other; a passphrase that was right is tried for the next ones too.
final class GnuPGPrivateParts {
  /// Why one was left out.
  struct Omission: Error {
    /// For programs; stable.
    let reason: String
    /// For people.
    let words: String

    static let wrongPassphrase = Omission(reason: "wrong_passphrase", words: "wrong passphrase")
    static let unreadable = Omission(reason: "malformed", words: "what GnuPG gives out cannot be read")
  }

  private let gpg: GnuPG
  private let coffer: Coffer
  private let context: CommandContext
  private var passphrases: [SharedSecretBytes]
  private let isGiven: Bool

  /// - Parameter given: the passphrase from an option; nil to ask.
  init(_ gpg: GnuPG, _ coffer: Coffer, _ context: CommandContext, given: SharedSecretBytes?) {
    self.gpg = gpg
    self.coffer = coffer
    self.context = context
    passphrases = [given].compactMap(\.self)
    isGiven = given != nil
  }

  /// A key, open.
  /// - Throws: ``Omission`` if this one stays where it is; what concerns all of them as it is.
  func open(_ key: GnuPGKey) throws -> OpenedKey {
    do { return try take(key) } catch let error as GnuPGError {
      throw Self.omission(error)
    } catch IdentityError.wrongPassphrase {
      throw Omission.wrongPassphrase
    } catch IdentityError.notAPrivateKey {
      throw Omission.unreadable
    }
  }

  private static func omission(_ error: GnuPGError) -> Omission {
    switch error {
    case .wrongPassphrase: .wrongPassphrase
    case .cancelled: Omission(reason: "cancelled", words: "cancelled")
    case .passphraseNeeded, .loopbackForbidden:
      Omission(
        reason: "loopback_forbidden",
        words: "GnuPG's settings forbid to give it a passphrase, and its own prompt could not ask")
    case .notAnswering: Omission(reason: "gpg_not_answering", words: "GnuPG did not answer in time")
    case .tooLong: Omission(reason: "too_large", words: "too much was added to it")
    default: Omission(reason: "gpg_failed", words: "GnuPG does not give it out")
    }
  }

  private func take(_ key: GnuPGKey) throws -> OpenedKey {
    do {
      return try unlock(try part(of: key, .nobody), key)
    } catch GnuPGError.passphraseNeeded {
      // It has one.
    }
    for passphrase in passphrases {
      if let opened = try attempt(key, passphrase) { return opened }
    }
    guard !isGiven else { throw Omission.wrongPassphrase }
    let found = try asking(key) { [self] typed in try attempt(key, typed) }
    guard let found else { throw Omission.wrongPassphrase }
    return found
  }

  /// Nil for a wrong passphrase.
  private func attempt(_ key: GnuPGKey, _ passphrase: SharedSecretBytes) throws -> OpenedKey? {
    do {
      return try part(of: key, .passphrase(passphrase)).opened([passphrase])
    } catch GnuPGError.wrongPassphrase {
      return nil
    } catch GnuPGError.loopbackForbidden {
      context.remark("GnuPG's settings want it to ask by itself, so its own prompt comes first.")
      let part = try part(of: key, .pinentry)
      if let opened = try? part.opened([passphrase]) { return opened }
      return try unlock(part, key)
    }
  }

  /// What gpg gives out of a key.
  private func part(of key: GnuPGKey, _ asking: GnuPG.Asking) throws -> KeyFile.Key {
    let bytes = SharedSecretBytes(try gpg.privatePart(key.fingerprint, asking: asking))
    guard let found = try coffer.keyFile(bytes).keys.first(where: { $0.fingerprint == key.fingerprint })
    else { throw Omission.unreadable }
    try found.checkMemory()
    return found
  }

  /// Opens what is here already.
  private func unlock(_ part: KeyFile.Key, _ key: GnuPGKey) throws -> OpenedKey {
    if let opened = try opened(part, passphrases) { return opened }
    guard !isGiven else { throw Omission.wrongPassphrase }
    let found = try asking(key) { [self] typed in try opened(part, [typed]) }
    guard let found else { throw Omission.wrongPassphrase }
    return found
  }

  /// Nil when none of these opens it.
  private func opened(_ part: KeyFile.Key, _ passphrases: [SharedSecretBytes]) throws -> OpenedKey? {
    do { return try part.opened(passphrases) } catch IdentityError.wrongPassphrase { return nil }
  }

  /// Asks for a passphrase until it is right, three times at most; each as it was typed, and normalised.
  private func asking(
    _ key: GnuPGKey, _ attempt: @escaping (SharedSecretBytes) throws -> OpenedKey?
  ) throws -> OpenedKey? {
    let prompt = try context.prompt(
      for: "the passphrase of \(Self.name(key)) in GnuPG",
      hint: "use --key-passphrase-fd, --key-passphrase-file, or COFFER_PINENTRY")
    var problem: String?
    for number in 1...CommandContext.promptTries {
      let typed = try prompt.ask(
        PromptRequest("passphrase of \(Self.name(key)) in GnuPG", problem: problem))
      var tried = [SharedSecretBytes(typed.duplicate())]
      if let normal = try? Passphrase(utf8: typed) {
        let other = SharedSecretBytes(normal)
        if !Self.isSame(tried[0], other) { tried.append(other) }
      }
      for passphrase in tried {
        guard let opened = try attempt(passphrase) else { continue }
        passphrases.append(passphrase)
        return opened
      }
      problem = CommandContext.triesLeft("wrong passphrase", number)
    }
    return nil
  }

  private static func isSame(_ first: SharedSecretBytes, _ second: SharedSecretBytes) -> Bool {
    first.withBytes { one in second.withBytes { two in constantTimeEqual(one, two) } }
  }

  static func name(_ key: GnuPGKey) -> String { ContactWords.quoted(key.userIDs.first ?? key.fingerprint) }
}
