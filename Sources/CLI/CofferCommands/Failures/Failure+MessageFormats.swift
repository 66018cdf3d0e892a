// SPDX-License-Identifier: Apache-2.0

internal import Correspondence
internal import Glibc
internal import MessageFormats

extension Failure {
  init(format error: MessageFormatError) {
    switch error {
    case .notFound: self.init(.missing, "no_such_file", "there is no such file or directory")
    case .wrongKind:
      self.init(.usage, "wrong_kind", "wrong kind of input")
    case .alreadyExists:
      self.init(.inUse, "already_exists", "already exists, and nothing is overwritten")
    case .cannotWrite where error.isOutOfSpace:
      self.init(
        .noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case .entry(_, let error): self.init(format: error)
    case .cannotRead(let code): self.init(.missing, "not_permitted", "cannot be read\(Self.reason(code))")
    case .cannotWrite(let code): self.init(.missing, "not_permitted", "cannot be written\(Self.reason(code))")
    case .damagedCompression:
      self.init(.corrupt, "damaged_compression", "the gzip file is damaged or not complete")
    case .interrupted: self = .interrupted("reading was stopped")
    case .messageTooLarge, .malformed, .metadataOutOfBounds, .tooDeep, .unsuitableIdentifier, .finished:
      self.init(.refused, "malformed", "the file is not in that format")
    }
  }

  /// Why the system refuses a file; nothing where it says only that it does.
  private static func reason(_ code: Int32) -> String {
    switch code {
    case EACCES, EPERM: ": permission denied"
    case EROFS: ": the disk is read-only"
    case EIO: ": the disk has an error"
    case ELOOP: ": too many links"
    case ENAMETOOLONG: ": the name is too long"
    default: ""
    }
  }

  /// An error with a file that the user named; the message quotes the name.
  init(_ error: MessageFormatError, naming path: String) {
    self.init(format: error)
    if path == "-", exit == .noRoom { hint = "the output is not complete; make room and try again" }
    if path != "-", exit != .noRoom { message = "'\(path)': \(message)" }
  }

  init(search error: SearchSyntaxError) {
    switch error {
    case .empty:
      self = .usage("there is no word to search for", hint: "coffer message search --help")
    case .onlyExcluded:
      self = .usage(
        "everything in this search is excluded", hint: "say also what to find: is:mail -word")
    case .tooMany(let limit): self = .usage("a search has at most \(limit) parts")
    case .unknownField(let name):
      let near =
        Self.searchFields[name.lowercased()]
        ?? NearName.of(name.lowercased(), among: SearchExpression.fieldNames)
      self = .usage(
        "a search has no field '\(name):'",
        hint: near.map { $0.isEmpty ? "a word without a field is looked for in every text" : "is it \($0):?" }
          ?? "in quotes it is text: '\"\(name):...\"'")
    case .noValue(let field): self = .usage("no word follows '\(field):'")
    case .badValue(let field, let value):
      let known = ["has": "has:attachment", "is": "is:mail"][field]
      self = .usage(
        "'\(field):' does not take '\(value)'",
        hint: known.map { "there is \($0)" } ?? "such as type:text/markdown or type:image/*")
    case .reversedDates(let text):
      self = .usage("the dates of '\(text)' are in the wrong order", hint: "the earlier one comes first")
    case .badDate(let text):
      self = .usage(
        "'\(text)' is not a date", hint: "such as 2024, 2024-03, 2024-03-15, or date:2024-03..2024-05")
    }
  }

  /// What other programs call the fields of a search; empty for what is searched anyway.
  private static let searchFields = [
    "subject": "title", "cc": "to", "bcc": "to", "recipient": "to", "sender": "from", "author": "from",
    "label": "tag", "since": "after", "until": "before", "body": "", "text": "", "filename": "",
    "attachment": "",
  ]

  init(draft error: MailDraftError) {
    switch error {
    case .notText: self.init(.refused, "malformed", "the text of a mail must be text in UTF-8")
    case .subject: self = .usage("--subject is one line, of at most 4,096 bytes")
    case .address(let text):
      self.init(
        .refused, "no_address",
        "\(LetterWords.quoted(text)) has no address that a mail can go to or come from",
        hint: "an address is ASCII, such as bob@example.org")
    case .tooLarge: self.init(mail: .tooLarge)
    }
  }
}
