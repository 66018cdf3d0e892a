// SPDX-License-Identifier: Apache-2.0
//
// The mails of an mbox, a line each, by what is outside of them: nothing is opened.

internal import CofferKit
internal import Correspondence
internal import MessageFormats
internal import OpenPGP
internal import Secrets
internal import Texts

enum MboxList {
  private struct Line: Encodable {
    let number: Int
    let form: String
    let from: String?
    let subject: String?
    let date: String?
  }

  /// Prints a line for each mail.
  static func print(_ path: String, _ coffer: Coffer, _ context: CommandContext) throws {
    let book = try coffer.addressBook()
    try MailInput.each(inMbox: path) { number, mail in
      let copy = SharedSecretBytes(SecretBytes(copying: mail))
      let letter = try? MailLetter(copy)
      let heading = letter.map { letter in copy.withBytes { MailHeading(letter.tree, $0) } }
      let form = letter.map { self.form($0, book) } ?? "malformed"
      let date = heading?[.date]?.date.map { RFC3339.format($0) }
      if context.isJSON {
        JSON.print(
          Line(
            number: number, form: form, from: heading?[.from]?.text, subject: heading?[.subject]?.text,
            date: date))
      } else {
        let from = LetterWords.quoted(heading?[.from]?.text ?? "")
        let subject = LetterWords.quoted(heading?[.subject]?.text ?? "")
        let words = form.replacing("_", with: " ")
        Terminal.print(
          "\(number)\t" + "\(date ?? "-")" + "\t" + "\(words)" + "\t" + "\(from)" + "\t" + "\(subject)")
      }
      return !Terminal.isOutputLost
    }
  }

  /// What a mail is, for programs; with blanks, for people.
  private static func form(_ letter: MailLetter, _ book: AddressBook) -> String {
    switch letter.shape {
    case .signed: return "signed"
    case .text(let block, _) where block.kind == .signedText: return "signed"
    case .severalTexts: return "several"
    case .plain(let numbers): return numbers.isEmpty ? "not_encrypted" : "encrypted_inside"
    case .encrypted, .text: break
    }
    guard case .mail(let message, _, _)? = try? letter.ciphertext(part: nil),
      let recipients = try? MessageRecipients(reading: MemorySource(message))
    else { return "malformed" }
    return ReadingPlan(recipients, book.identities).isForNobodyHere ? "not_for_you" : "encrypted"
  }
}
