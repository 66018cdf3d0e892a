// SPDX-License-Identifier: Apache-2.0
//
// A mail on a terminal: our lines on standard error, the protected texts behind bars, and everything else behind other
// bars, after it. On a pipe or in a file: the protected part as it is.

internal import Correspondence
internal import Foundation
internal import MessageFormats
internal import OpenPGP
internal import Secrets

struct MailView {
  let mail: MailLetter
  let content: MailContent
  let context: CommandContext
  /// The command with its input, for hints.
  let command: String

  /// The verdict and the headers.
  /// - Parameter verdict: the sentence about the signature.
  func tellHeading(_ verdict: String, isScreen: Bool) {
    guard !context.isJSON else { return }
    var words = content.isEncrypted ? "mail, decrypted; \(verdict)" : "mail; \(verdict)"
    if content.notes.contains(.senderDiffers) { words += "; \(MailWords.otherSender(content.heading))" }
    Terminal.remark(whole: isScreen ? BarredText.edge(words) : "\(words)")
    for line in content.heading.lines { Terminal.remark(whole: MailWords.line(line, of: content)) }
    for note in VerdictWords.notes(content.verdict, isDetailed: false) { Terminal.remark("\(note)") }
    for note in MailWords.notes(content) { Terminal.remark("\(note)") }
  }

  /// The texts, the other parts, and what is not protected.
  func show() throws {
    let (texts, attachments) = content.shown
    let shown = texts.map(content.text).joined(separator: "\n")
    let others = unprotected()
    guard others.reduce(shown.utf8.count, { $0 + $1.utf8.count }) <= DecryptedOutput.shownByteCountLimit
    else {
      throw Failure(
        .refused, "not_for_terminal", "the mail is too long to be shown",
        hint: "--output FILE, or a pipe, takes it")
    }
    BarredText.print(shown)
    tell(attachments)
    for text in others {
      Terminal.remark(whole: BarredText.edge(MailWords.unprotectedHeading(content)))
      BarredText.print(text, bar: BarredText.unprotectedBar)
    }
    Terminal.remark(whole: BarredText.edge("end: \(MailWords.coverage(content))"))
  }

  /// The parts that are not shown.
  func tell(_ attachments: [Int]) {
    guard !context.isJSON else { return }
    for (position, index) in attachments.enumerated() {
      Terminal.remark(whole: "   \(MailWords.part(index, of: content))")
      if position == 0 { Terminal.remark(whole: "       \(command) --save-parts DIR") }
    }
  }

  private func unprotected() -> [String] {
    content.others.map { content.text(other: $0, in: mail.tree) }
      + [content.footer].compactMap(\.self).map(content.text)
  }
}

enum MailWords {
  /// A header, with where it comes from. What the sender chose is in quotation marks.
  static func line(_ line: MailHeading.Line, of content: MailContent) -> ShownLine {
    let name = line.name.rawValue.capitalized.padding(toLength: 9, withPad: " ", startingAt: 0)
    let place =
      !line.isProtected
      ? "not protected"
      : content.isSigned ? "protected" : content.isEncrypted ? "encrypted, not signed" : "not protected"
    return "   \(name)" + "\(value(line))" + "   (\(place))"
  }

  private static func value(_ line: MailHeading.Line) -> String {
    if let addresses = line.addresses, !addresses.isEmpty {
      return addresses.prefix(shownAddressLimit).map { one in
        one.name.isEmpty ? "<\(one.address)>" : "\(LetterWords.quoted(one.name)) <\(one.address)>"
      }.joined(separator: ", ")
        + (addresses.count > shownAddressLimit ? " and \(addresses.count - shownAddressLimit) more" : "")
    }
    if let date = line.date, let seconds = UInt32(exactly: date) {
      return LocalTime.minute(Int64(seconds))
    }
    return LetterWords.quoted(line.text)
  }

  /// A part that is not shown.
  static func part(_ index: Int, of content: MailContent) -> String {
    let part = content.tree.parts[index]
    let number = content.tree.number(of: index) ?? 0
    let count = content.bytes.withBytes { content.tree.content(of: index, in: $0) }.count
    return StoredParts.line(number: number, name: part.name, type: part.type, byteCount: count)
  }

  static func otherSender(_ heading: MailHeading) -> String {
    heading.sender.map { "the mail says it is from <\($0)>, WHO IS SOMEBODY ELSE" }
      ?? "WHOM THE MAIL IS FROM CANNOT BE TOLD"
  }

  /// The notes, each a sentence.
  static func notes(_ content: MailContent) -> [String] {
    content.notes.flatMap { note -> [String] in
      switch note {
      case .repaired:
        ["a mail server has changed the form of this mail on its way; what was encrypted is whole"]
      case .mixed:
        content.isEncrypted
          ? ["the mail has other text that was not encrypted"]
          : ["the mail has other text that is not signed"]
      case .partlySigned: ["something was added to the mail on its way, which is not signed"]
      case .senderDiffers: []
      case .headersChanged:
        content.heading.changed.map { change in
          "\(change.name.rawValue.capitalized) was changed on the way: outside it is \(LetterWords.quoted(change.outside))"
        }
      case .notAMail: ["what was encrypted is not built as a mail must be, and is shown as one text"]
      }
    }
  }

  static func unprotectedHeading(_ content: MailContent) -> String {
    if content.footer != nil { return "added on the way, not signed" }
    return content.isEncrypted ? "not encrypted, and not signed: anybody can have written it" : "not signed"
  }

  /// How much of what is on the screen was protected, and how.
  static func coverage(_ content: MailContent) -> String {
    let ways = [content.isEncrypted ? "encrypted" : nil, content.isSigned ? "signed" : nil]
      .compactMap(\.self).joined(separator: " and ")
    let rest = content.isSigned ? "" : "; nothing of it is signed"
    return content.isWhole
      ? "everything above was \(ways)\(rest)" : "lines with a whole bar were \(ways); the rest was not\(rest)"
  }

  private static let shownAddressLimit = 20
}

/// A media type as it may be shown.
enum TypeName {
  static func shown(_ type: String) -> String { ColumnWidth.cut(type, to: 60) }
}

/// A mail for programs.
struct MailAnswer: Encodable {
  struct Field: Encodable {
    let value: String
    let protected: Bool
  }
  struct Part: Encodable {
    let number: Int
    let type: String
    let name: String?
    let byteCount: Int
    let encrypted: Bool
    let signed: Bool
  }

  let from: Field?
  let to: Field?
  let cc: Field?
  let subject: Field?
  let date: Field?

  init(_ heading: MailHeading) {
    func field(_ name: MailHeading.Name) -> Field? {
      heading[name].map { Field(value: $0.text, protected: $0.isProtected) }
    }
    (from, to, cc, subject, date) = (field(.from), field(.to), field(.cc), field(.subject), field(.date))
  }

  static func parts(_ content: MailContent) -> [Part] {
    content.tree.leaves().enumerated().map { position, index in
      let part = content.tree.parts[index]
      let count = content.bytes.withBytes { content.tree.content(of: index, in: $0) }.count
      return Part(
        number: position + 1, type: part.type, name: part.name, byteCount: count,
        encrypted: content.isEncrypted, signed: content.isSigned && content.isProtected(index))
    }
  }
}

extension MailContent.Note {
  /// For programs; stable.
  var code: String {
    switch self {
    case .repaired: "repaired"
    case .mixed: "mixed"
    case .partlySigned: "partly_signed"
    case .senderDiffers: "sender_differs"
    case .headersChanged: "headers_changed"
    case .notAMail: "not_a_mail"
    }
  }
}
