// SPDX-License-Identifier: Apache-2.0
//
// What signatures are worth, in sentences for people and in JSON. Verdicts are printed by us, outside of content.

internal import Contacts
internal import Correspondence
internal import Identities
internal import OpenPGP
internal import ProtectedData
internal import Texts

enum VerdictWords {
  /// Who else can have written what is not signed.
  enum Origin {
    /// A file or a text that anybody can read.
    case open
    /// A message that was encrypted to the user.
    case encrypted
    /// A message that opens with a password.
    case password
  }

  /// The verdict, after the name of a file or "decrypted": the same words in every command.
  static func sentence(_ verdict: Verdict, _ origin: Origin = .open) -> String {
    guard let finding = verdict.decisive, finding.grade != .none else { return unsigned(origin) }
    switch finding.grade {
    case .verified: return "signed by \(signer(finding))\(date(finding))"
    case .unverified:
      return
        "signed with the key that you have for \(name(finding)); not verified, so it could be somebody else's"
    case .unknown: return "\(unknown(finding)). Nothing is known about who that is"
    case .invalid: return "THE SIGNATURE DOES NOT HOLD: \(reason(finding)). Treat it as not signed"
    case .none: return unsigned(origin)
    }
  }

  /// Green only for what is verified, red for what does not hold.
  static func tone(_ verdict: Verdict) -> Tone? {
    switch verdict.grade {
    case .verified: .good
    case .invalid: .bad
    case .unverified, .unknown, .none: nil
    }
  }

  private static func unsigned(_ origin: Origin) -> String {
    switch origin {
    case .open: "not signed: anybody can have written it"
    case .encrypted: "not signed: anybody who has your public part can have written it"
    case .password: "not signed: anybody who has the password can have written it"
    }
  }

  /// The notes, each a sentence; those that most messages would have only with `--details`.
  static func notes(_ verdict: Verdict, isDetailed: Bool) -> [String] {
    verdict.notes.compactMap { note -> String? in
      let name = verdict.decisive.map(name) ?? ""
      switch note {
      case .expiredSince(let end):
        return "the key has expired since\(end.map { " (\(ContactWords.day($0.secondsSince1970)))" } ?? "")"
      case .revokedSince(let reason):
        return "since then the key is revoked: \(RecipientProblem.words(reason))"
      case .alsoSignedByUnknown: return "somebody whose key you do not have has signed it too"
      case .noRecipientsNamed:
        return isDetailed ? "\(name) may have written this to somebody else: the signature names nobody" : nil
      case .othersNamed: return forOthers(name)
      case .keyChanged(let wasInUse):
        return "not the key that you have in use for \(name)"
          + (wasInUse ? ", but a former one" : ": it waits for your decision")
      }
    }
  }

  private static func forOthers(_ name: String) -> String {
    "\(name) wrote this to others, and does not name you: one of them may have put it under this password"
  }

  private static func name(_ finding: SignatureFinding) -> String {
    switch finding.signer {
    case .contact(let contact): LetterWords.quoted(contact.name)
    case .identity(let identity): LetterWords.quoted(IdentityView(identity).title)
    case .unknown: "somebody"
    }
  }

  private static func signer(_ finding: SignatureFinding) -> String {
    switch finding.signer {
    case .contact: "\(name(finding)), verified contact"
    case .identity: "you, as \(name(finding))"
    case .unknown: "somebody"
    }
  }

  private static func date(_ finding: SignatureFinding) -> String {
    finding.made.map { ", \(LocalTime.minute(Int64($0.secondsSince1970)))" } ?? ""
  }

  private static func unknown(_ finding: SignatureFinding) -> String {
    if case .contact = finding.signer {
      return "signed with a new key for \(name(finding)) that waits for your decision"
    }
    return "signed with a key that you do not have"
      + (finding.signingKey.map { ": \(LetterWords.ends($0))" } ?? "")
  }

  private static func reason(_ finding: SignatureFinding) -> String {
    let made = finding.made.map { ContactWords.day($0.secondsSince1970) } ?? "an unknown day"
    switch finding.reason {
    case .revoked(let reason): return "the key had been revoked: \(RecipientProblem.words(reason))"
    case .changed, nil: return "the text was changed, or the signature belongs to another one"
    case .expiredThen(let end):
      let then = end.map { " on \(ContactWords.day($0.secondsSince1970))" } ?? ""
      return "made on \(made) with a key that had expired\(then)"
    case .forOthers:
      return "\(name(finding)) signed this for somebody else; whoever sent it to you took it from there"
    case .tooWeak(let rule):
      return "made in a way that can be forged today (\(RecipientProblem.words(rule)))"
    case .future: return "dated \(made), in the future; is this machine's clock right?"
    case .signatureExpired: return "it was made to end, and has ended"
    case .foreignKey:
      return
        "made with a key that somebody put into the public part of \(name(finding)), who does not claim it"
    case .malformed: return "it is not made as a signature must be"
    case .unreadable: return "it is damaged and cannot be read, or is of a newer kind"
    }
  }
}

extension VerdictWords {
  /// A signature for programs.
  struct Answer: Encodable {
    let grade: String
    let reason: String?
    let notes: [String]
    let fingerprint: String?
    let primary: String?
    let contact: String?
    let identity: String?
    let verified: Bool
    let made: String?
    let names: [String]

    init(_ finding: SignatureFinding) {
      grade = finding.grade.rawValue
      reason = finding.reason?.code
      notes = finding.notes.map(\.code)
      fingerprint = finding.signingKey.map(FingerprintText.plain)
      primary = finding.primaryKey.map(FingerprintText.plain)
      var (contact, identity): (String?, String?) = (nil, nil)
      switch finding.signer {
      case .contact(let found): contact = found.name
      case .identity(let found): identity = found.fingerprint
      case .unknown: break
      }
      (self.contact, self.identity) = (contact, identity)
      verified = finding.grade == .verified
      made = finding.made.map { RFC3339.format(Int64($0.secondsSince1970)) }
      names = finding.names
    }
  }

  /// The failure of a message whose verdict is not enough; nil if it is.
  /// - Parameter wantsVerified: whether a contact that is not verified is too little.
  static func failure(_ verdict: Verdict, wantsVerified: Bool, _ subject: String) -> Failure? {
    let sentence = "\(subject): \(Self.sentence(verdict))"
    if let finding = verdict.decisive, verdict.notes.contains(.othersNamed) {
      return Failure(
        .refused, "not_verified", "\(subject): \(forOthers(name(finding)))",
        hint: "ask the sender to encrypt it to you")
    }
    switch verdict.grade {
    case .verified: return nil
    case .unverified:
      guard wantsVerified else { return nil }
      return Failure(
        .refused, "not_verified", sentence, hint: "'coffer contact verify' compares the fingerprint")
    case .unknown:
      return Failure(
        .missing, "unknown_signer", sentence,
        hint: "'coffer contact import FILE' adds the signer's public part")
    case .invalid: return Failure(.corrupt, "signature_invalid", sentence)
    case .none: return Failure(.missing, "not_signed", sentence)
    }
  }
}

extension SignatureFinding.Reason {
  /// For programs; stable.
  fileprivate var code: String {
    switch self {
    case .revoked: "revoked"
    case .changed: "changed"
    case .expiredThen: "expired_then"
    case .forOthers: "for_others"
    case .tooWeak: "too_weak"
    case .future: "future"
    case .signatureExpired: "signature_expired"
    case .foreignKey: "foreign_key"
    case .malformed: "malformed"
    case .unreadable: "unreadable"
    }
  }
}

extension SignatureFinding.Note {
  /// For programs; stable.
  var code: String {
    switch self {
    case .expiredSince: "expired_since"
    case .revokedSince: "revoked_since"
    case .alsoSignedByUnknown: "also_signed_by_unknown"
    case .noRecipientsNamed: "no_recipients_named"
    case .othersNamed: "others_named"
    case .keyChanged: "key_changed"
    }
  }
}
