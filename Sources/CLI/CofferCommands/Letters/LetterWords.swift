// SPDX-License-Identifier: Apache-2.0
//
// People and problems of OpenPGP messages in words and in JSON. Names that others chose are in quotation marks.

internal import Contacts
internal import Correspondence
internal import Foundation
internal import Identities
internal import OpenPGP
internal import Texts

enum LetterWords {
  /// A day; nil for a time that is not known.
  static func day(_ seconds: UInt32?) -> String? { seconds.map(ContactWords.day) }

  /// The ends of a fingerprint, to recognise one by.
  static func ends(_ fingerprint: Fingerprint) -> String {
    let groups = FingerprintText.groups(fingerprint)
    return "\(groups[0]) \(groups[1]) ... \(groups[groups.count - 1])"
  }

  static func quoted(_ name: String) -> String { ContactWords.quoted(name) }

  /// "a", "a and b", "a, b and c".
  static func list(_ items: [String]) -> String {
    guard items.count > 1, let last = items.last else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " and " + last
  }

  /// Who can read a message, in one sentence.
  static func readers(_ message: OutgoingMessage, hasPassword: Bool) -> String {
    var readers = message.recipients.filter { !$0.isSelf }.map { recipient -> String in
      switch recipient.correspondent {
      case .identity: "you"
      default:
        quoted(recipient.correspondent.name)
          + (recipient.correspondent.isVerified ? " (verified)" : " (not verified)")
      }
    }
    // Several of the user's own identities are one reader.
    var hasSelf = false
    readers.removeAll { reader in
      guard reader == "you" else { return false }
      defer { hasSelf = true }
      return hasSelf
    }
    if hasPassword { readers.append("anybody with the password") }
    let isAlone = !message.isForSelf && readers.count == 1
    if message.recipients.contains(where: \.isSelf), !readers.contains("you") { readers.append("you") }
    var text = "For \(list(readers))\(isAlone && !hasPassword ? " alone" : "")"
    if !message.isForSelf, !hasPassword { text += "; you will not be able to read it" }
    if let signer = message.signer {
      text += "; signed as \(quoted(IdentityView(signer).title))."
    } else {
      text += ". Not signed."
    }
    return text
  }

  /// Why the older format is taken; nil if nothing is lost.
  static func downgrade(_ message: OutgoingMessage) -> String? {
    let older = message.downgradedFor
    guard !older.isEmpty else { return nil }
    return "\(names(older)) can read the older format only, so the whole message has it."
  }

  /// Because of whom a quantum computer could open the message; nil if it could not, or if all are alike.
  static func quantumWeakened(_ message: OutgoingMessage) -> String? {
    let weak = message.quantumUnsafeFor
    guard !weak.isEmpty, weak.count < message.recipients.count else { return nil }
    return "\(names(weak)) \(weak.count == 1 ? "has" : "have") no post-quantum key: "
      + "with a quantum computer, whoever keeps the message could open it."
  }

  /// Whose key is replaced by another one that is here, and whom to name instead.
  static func replaced(_ message: OutgoingMessage) -> [String] {
    message.replaced.map { recipient in
      let new = recipient.successor.map { "that of \(name($0))" } ?? "another one"
      return
        "The key of \(name(recipient.correspondent)) is replaced by \(new), as both keys say: you can write to that."
    }
  }

  private static func names(_ recipients: [OutgoingMessage.Recipient]) -> String {
    list(recipients.map { name($0.correspondent) })
  }

  private static func name(_ correspondent: Correspondent) -> String {
    if case .identity(let own) = correspondent {
      "your identity \(quoted(IdentityView(own).title))"
    } else {
      quoted(correspondent.name)
    }
  }
}

extension RecipientProblem {
  /// How a command ends for it; the code is for programs, and stable.
  var end: (exit: ExitCode, code: String) {
    switch reason {
    case .expired where isOwn: (.refused, "own_identity_expired")
    case .expired: (.refused, "recipient_expired")
    case .revoked: (.refused, "recipient_revoked")
    case .cannotReceive: (.refused, "recipient_cannot_receive")
    case .refused: (.refused, "recipient_refused")
    case .keyChangePending: (.refused, "key_change_pending")
    }
  }

  /// When it began, if that is known; seconds since 1970, UTC.
  var since: UInt32? {
    switch reason {
    case .expired(let since, _), .revoked(_, let since): since
    default: nil
    }
  }

  /// What is wrong.
  var sentence: String {
    let whose = isOwn ? "your identity \(LetterWords.quoted(name))" : "the key of \(LetterWords.quoted(name))"
    switch reason {
    case .expired(let since, let storedSince):
      let copy = LetterWords.day(storedSince).map { " (as you have it since \($0))" } ?? ""
      return "\(whose) expired\(LetterWords.day(since).map { " on \($0)" } ?? "")\(copy)"
    case .revoked(let reason, let since):
      let day = LetterWords.day(since).map { ", \($0)" } ?? ""
      return "\(whose) is revoked: \(Self.words(reason))\(day)"
    case .cannotReceive: return "\(whose) can sign but cannot receive"
    case .refused(let rule): return "\(whose) is too weak to protect anything (\(Self.words(rule)))"
    case .keyChangePending:
      return "\(LetterWords.quoted(name)) has a new key that you have not decided about"
    }
  }

  /// What to do.
  var advice: String {
    switch reason {
    case .expired where isOwn: "--no-self leaves you out, and --no-sign leaves out the signature"
    case .revoked where isOwn, .refused where isOwn, .cannotReceive where isOwn:
      "--as WHO takes another identity"
    case .expired: "ask for the present public part, then 'coffer contact import FILE'"
    case .revoked: "ask for the new one, then 'coffer contact import FILE'"
    case .cannotReceive: "ask for one that can, then 'coffer contact import FILE'"
    case .refused: "ask for a newer one, then 'coffer contact import FILE'"
    case .keyChangePending: "both are shown by: coffer contact show \(ShellWord.quoted(name))"
    }
  }

  static func words(_ reason: RevocationReason?) -> String {
    switch reason?.code {
    case .superseded: "replaced by another"
    case .compromised: "somebody else may have it"
    case .retired: "not used any more"
    // RFC 9580, section 5.2.3.31: without a reason it counts like a compromise.
    default: "no reason is given, so somebody else may have it"
    }
  }

  static func words(_ rule: Policy.Rule) -> String {
    switch rule {
    case .keySize(let bits): "RSA, \(bits) bits"
    case .publicKeyAlgorithm(let algorithm): "algorithm \(algorithm.rawValue)"
    case .hashAlgorithm(.sha1): "SHA-1"
    case .hashAlgorithm(let hash): hash == .md5 ? "MD5" : "hash \(hash.rawValue)"
    case .publicExponent: "RSA with an unfit exponent"
    default: "refused by policy"
    }
  }
}
