// SPDX-License-Identifier: Apache-2.0
//
// What a mail brings of public parts: one line for each that is new or differs, and the public parts themselves for
// 'contact import'. Nothing is stored here.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets

/// The public parts of a mail that are new, or not those that are stored.
struct BroughtKeys {
  struct Answer: Encodable {
    let fingerprint: String
    let addresses: [String]
    let outcome: String
  }

  private let previews: [ContactPreview]
  /// Why what the mail brings cannot be taken; nil if it can, or is nothing of OpenPGP.
  private let problem: String?

  /// Looks without storing anything. A mail that is shown is not refused because of what it brings.
  init(_ keys: MailKeys, _ coffer: Coffer, _ book: AddressBook) {
    let own = Set(book.identities.map(\.certificate.fingerprint))
    do {
      let found = try keys.publicParts().map { try coffer.contacts().preview($0, at: coffer.openPGPTime) }
      previews = (found ?? []).filter { $0.outcome != .unchanged && !own.contains($0.key.fingerprint) }
      problem = nil
    } catch ContactError.unreadable {
      (previews, problem) = ([], nil)
    } catch {
      (previews, problem) = ([], Failure(error).message)
    }
  }

  /// Nil if there is nothing to say.
  var answers: [Answer]? {
    previews.isEmpty
      ? nil
      : previews.map {
        Answer(
          fingerprint: FingerprintText.plain($0.key.fingerprint), addresses: $0.key.addresses,
          outcome: Self.code($0.outcome))
      }
  }

  /// - Parameter command: what takes them; nil if no command does.
  func tell(_ context: CommandContext, command: String?) {
    if let problem { context.remark("What this mail brings of keys cannot be taken: \(problem)") }
    let end = command.map { ": \($0)" } ?? ""
    for preview in previews.prefix(Self.shownLimit) {
      let whom = preview.key.addresses.first ?? ContactWords.quoted(preview.key.suggestedName)
      switch preview.outcome {
      case .new: context.remark("This mail brings a public part for \(whom) that you do not have\(end)")
      case .newKey:
        context.remark("This mail brings another public part for \(whom) than the one you use\(end)")
      case .updated, .unchanged:
        context.remark("This mail brings a public part for \(whom) that has changed\(end)")
      }
    }
    let rest = previews.count - Self.shownLimit
    if rest > 0 { context.remark("and \(rest.counted("public part")) more") }
  }

  private static func code(_ outcome: ContactPreview.Outcome) -> String {
    switch outcome {
    case .new: "new"
    case .newKey: "new_key"
    case .updated: "updated"
    case .unchanged: "unchanged"
    }
  }

  private static let shownLimit = 3
}

extension LetterOpening {
  /// The public parts that a mail brings. An encrypted mail is decrypted for them.
  /// - Returns: them, and the coffer as it was opened last.
  func publicParts(
    _ bytes: SharedSecretBytes, _ coffer: Coffer, _ context: CommandContext
  ) throws -> (PublicParts, Coffer) {
    let letter = try MailLetter(bytes)
    var (keys, coffer) = (MailKeys(letter), coffer)
    if letter.isEncrypted, case .mail(let message, let others, let isText) = try letter.ciphertext(part: nil)
    {
      let mail = try mail(message, of: letter, others: others, isText: isText, coffer, context)
      (keys, coffer) = (MailKeys(mail.content, of: letter), mail.asked.coffer)
    }
    guard let parts = try keys.publicParts() else {
      throw Failure(
        .missing, "not_found", "this mail brings no public part",
        hint:
          "one comes as a file of type application/pgp-keys, or in the only 'Autocrypt:' header, for the address in From"
      )
    }
    return (parts, coffer)
  }
}
