// SPDX-License-Identifier: Apache-2.0
//
// Decrypts mail: the one message at its top, and nothing inside of that.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets
internal import Vaults

/// The options of a mail, without those of a file.
struct MailWishes {
  var part: Int?
  var folder: String?
  var output: String?
  /// Whether only what is signed comes out.
  var wantsSigned: Bool
}

extension DecryptCommand {
  struct MailAnswers: Encodable {
    let output: String?
    let decryptedWith: String?
    let format: String
    let grade: String
    let notes: [String]
    let signatures: [VerdictWords.Answer]
    let mail: MailAnswer
    let parts: [MailAnswer.Part]
    let coverage: String
    let saved: [String]?
    let stored: String?
    let publicParts: [BroughtKeys.Answer]?
  }

  /// Decrypts a mail, and gives out what the options want.
  func decrypt(
    mail bytes: SharedSecretBytes, _ input: LetterInput, _ coffer: Coffer, _ context: CommandContext
  )
    throws
  {
    let letter = try MailLetter(bytes)
    switch try letter.ciphertext(part: part) {
    case .part(let message):
      guard saveParts == nil, !store else {
        throw Failure.usage("a part that is decrypted alone goes to --output, or a pipe")
      }
      try decrypt(MemorySource(message), input, byteCount: message.count, coffer, context)
    case .mail(let message, let others, let isText):
      guard extract == nil else { throw Failure.usage("--extract is for an archive, and this is a mail") }
      let mail = try letterOpening.mail(
        message, of: letter, others: others, isText: isText, opensParts: part != nil, coffer, context
      ) {
        guard let output, output != "-" else { return }
        _ = try LetterOutput(path: output, record: nil)
        try LetterRoom.check(message.count, for: output)
      }
      if let require,
        let failure = VerdictWords.failure(
          mail.content.verdict, wantsVerified: require == .verified, "the mail")
      {
        throw failure
      }
      try give(mail, of: letter, input, context)
    }
  }

  private func give(
    _ mail: LetterOpening.Mail, of letter: MailLetter, _ input: LetterInput, _ context: CommandContext
  ) throws {
    let (content, read) = (mail.content, mail.read)
    let view = MailView(
      mail: letter, content: content, context: context, command: "coffer decrypt \(hintedInput)")
    let wishes = MailWishes(
      part: part, folder: saveParts, output: output, wantsSigned: require != nil)
    let verdict = VerdictWords.sentence(
      content.verdict, read.identity == nil ? .password : .encrypted)
    let given = try view.give(verdict, wishes, input)
    var stored: MessageID?
    if store { stored = try MailStoring.store(content, of: letter, mail.asked.coffer, context) }
    let brought = BroughtKeys(MailKeys(content, of: letter), mail.asked.coffer, mail.book)
    brought.tell(context, command: importCommand)
    if context.isJSON {
      JSON.print(
        MailAnswers(
          output: given.output, decryptedWith: read.identity.map(FingerprintText.plain),
          format: read.message.format.code, grade: content.verdict.grade.rawValue,
          notes: content.verdict.notes.map(\.code) + content.notes.map(\.code),
          signatures: content.verdict.findings.map { .init($0) }, mail: MailAnswer(content.heading),
          parts: MailAnswer.parts(content), coverage: content.coverage.rawValue, saved: given.saved,
          stored: stored?.description, publicParts: brought.answers))
    } else if details {
      for line in detailLines(read, mail.plan, mail.book) { Terminal.remark(line) }
    }
  }

  /// What takes the mail's public parts; nil for a mail that no command can hand on.
  private var importCommand: String? {
    if let message { return "coffer message show \(message) --raw | coffer contact import" }
    return mbox != nil || file == "-" ? nil : "coffer contact import \(ShellWord.quoted(file))"
  }

  /// The input as it was typed.
  private var hintedInput: String {
    if let message { return "--message \(message)" }
    if let mbox { return "--mbox \(ShellWord.quoted(mbox)) \(file)" }
    return ShellWord.quoted(file)
  }
}

extension MailView {
  /// Writes the protected part or one part, shows the mail, and saves its other parts, as the options want.
  func give(
    _ verdict: String, _ wishes: MailWishes, _ input: LetterInput
  ) throws -> (output: String?, saved: [String]?) {
    let isPipe = !Terminal.isOutputTerminal && !(context.isJSON && wishes.output == nil)
    let path = wishes.output.flatMap { $0 == "-" ? nil : $0 }
    let index = try wishes.part.map { try part($0, wantsSigned: wishes.wantsSigned) }
    let saving = try wishes.folder.map { try PartFiles(content.shown.attachments, of: content, in: $0) }
    let isScreen = !isPipe && path == nil && !context.isJSON
    // Before anything else comes out, which could not be taken back; if that fails, they are.
    try saving?.write { place in
      content.bytes.withBytes { content.tree.content(of: content.shown.attachments[place], in: $0) }
    }
    try saving?.claimNames()
    tellHeading(verdict, isScreen: isScreen && index == nil)
    var output: String?
    if let index {
      if !context.isJSON || wishes.output != nil {
        let target = try DecryptedOutput(wishes.output, input, context)
        try write({ content.tree.content(of: index, in: $0) }, to: target)
        try target.finish(endingWith: content.isProtected(index) ? coverageWords : "not signed")
        output = target.path
        if let output { context.remark("\(output)") }
      }
    } else if isScreen {
      try show()
    } else {
      if isPipe || path != nil {
        let target = try LetterOutput(path: path, record: context.unfinishedExports())
        let range = content.tree.parts[content.root].entity
        do throws(OpenPGPError) {
          try content.bytes.withBytes { (bytes) throws(OpenPGPError) in
            try target.write(bytes.extracting(range))
          }
          try target.finish()
        } catch {
          throw Failure(openPGP: error, writing: path ?? "-")
        }
        output = path
        if let path { context.remark("\(path)" + "\t" + "\(ByteCount.text(target.byteCount))") }
      }
      tell(content.shown.attachments)
    }
    saving?.keep(context)
    return (output, saving?.paths)
  }

  private var coverageWords: String { content.isSigned ? "all of it signed" : "nothing of it signed" }

  private func write(_ read: (RawSpan) -> SecretBytes, to target: DecryptedOutput) throws {
    let bytes = content.bytes.withBytes(read)
    do throws(OpenPGPError) {
      try bytes.withBytes { (span) throws(OpenPGPError) in try target.write(span) }
    } catch {
      throw Failure(openPGP: error, writing: target.path ?? "-")
    }
  }

  private func part(_ number: Int, wantsSigned: Bool) throws -> Int {
    let leaves = content.tree.leaves()
    guard 1...leaves.count ~= number else {
      throw Failure(
        .missing, "not_found", "this mail has no part \(number)", hint: "its parts are 1 to \(leaves.count)")
    }
    let index = leaves[number - 1]
    if !content.isProtected(index) {
      guard !wantsSigned else {
        throw Failure(.missing, "not_signed", "part \(number) of this mail is not signed")
      }
      context.remark("part \(number) is not signed, whatever the rest of the mail is")
    }
    return index
  }
}

/// Keeping a decrypted mail in the coffer.
enum MailStoring {
  /// Stores the protected part as a mail of its own, with the headers that are shown.
  static func store(
    _ content: MailContent, of letter: MailLetter, _ coffer: Coffer, _ context: CommandContext
  ) throws -> MessageID {
    let range = content.tree.parts[content.root].entity
    let isMail = !content.tree.parts[content.root].fields.isEmpty
    // Headers that were only outside come before; those inside have their place already.
    let wanted = Set(content.heading.lines.filter { !$0.isProtected }.map(\.name.rawValue))
    let outside = letter.tree.parts[0].fields.filter { wanted.contains($0.name) }.map(\.line)
    let mail = letter.bytes.withBytes { outer in
      content.bytes.withBytes { inner in
        joined(outer, outside, inner.extracting(range), isMail: isMail)
      }
    }
    let own = mail.withBytes { MessageMetadata.ofMail($0) }
    var metadata = MessageMetadata(
      title: content.heading[.subject]?.text ?? own.title, contentType: MessageMetadata.mailType,
      date: content.heading[.date]?.date ?? own.date)
    if metadata.date == 0 { metadata.date = Int64(Date().timeIntervalSince1970) }
    let id = try coffer.addMessage(mail, metadata: metadata)
    context.remark("stored as \(id)")
    return id
  }

  private static func joined(
    _ outer: RawSpan, _ lines: [Range<Int>], _ inner: RawSpan, isMail: Bool
  ) -> SecretBytes {
    let headers = lines.reduce(0) { $0 + $1.count }
    // A text gets headers of a mail.
    let empty = isMail ? [] : Array("MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n".utf8)
    var mail = SecretBytes(zeroed: headers + empty.count + inner.byteCount)
    mail.withMutableBytes { target in
      var offset = 0
      for line in lines {
        target.copy(outer.extracting(line), to: offset)
        offset += line.count
      }
      target.copy(empty.rawSpan, to: offset)
      target.copy(inner, to: offset + empty.count)
    }
    return mail
  }
}
