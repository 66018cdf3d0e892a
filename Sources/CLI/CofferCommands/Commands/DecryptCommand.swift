// SPDX-License-Identifier: Apache-2.0
//
// Decrypts a message. Whom it is for is read before anybody is asked; the private part is opened for the session key
// alone; nothing comes out before all of the message has authenticated.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import Glibc
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets
internal import UserAuthentication

struct DecryptCommand: CofferCommand {
  enum Requirement: String, ExpressibleByArgument, CaseIterable { case verified, signed }

  static let configuration = CommandConfiguration(
    commandName: "decrypt", abstract: "Read an encrypted message.")
  static let page = """
    coffer decrypt: read an encrypted message, and see who signed it

    usage: coffer decrypt [--output FILE | --extract DIR] [--require verified|signed] [--details]
                          [--part N] [--save-parts DIR] [--store]
                          [FILE|- | --message WHICH | --mbox FILE [N]]
                          \(OpeningOptions.usage)

    On a terminal a text is shown after bars, and anything else is written beside FILE, under its name
    without .pgp, .gpg or .asc. On a pipe the content is written as it is. Nothing comes out before all of it
    has been found whole and unchanged, and nothing is overwritten. If there are several signatures, one that
    does not hold counts. FILE may be a mail: the message at its top is opened, and nothing inside of that.

      --output   write this new file
      --extract  the content is a tar archive, such as 'coffer encrypt' makes of a folder: unpack it to this
                 new folder, all of it or nothing. Links, devices, and names that lead out of the folder
                 refuse the whole archive
      --require  signed: only if somebody whose key you have has signed it; verified: only a verified
                 contact or you. Otherwise nothing comes out; without it a message is shown, and the exit
                 code is 0, whatever its signature is worth
      --details  format, your identity, all recipients
      --part        of a mail: write the part with this number, or open it if it is encrypted
      --save-parts  of a mail: write its other parts into this folder, which is made
      --store       of a mail: keep it in the coffer, decrypted
      --message     a message of the coffer, instead of a file
      --mbox        the mail N of this mbox file; without N, a line for each

    example: coffer decrypt letter.txt.pgp
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Write this file.", completion: .file()) var output: String?
  @Option(help: "Unpack an archive to this new folder.", completion: .directory) var extract: String?
  @Option(help: "verified or signed.") var require: Requirement?
  @Flag(help: "Format, your identity, all recipients.") var details = false
  @Option(help: "The part with this number.") var part: Int?
  @Option(help: "Write parts into this folder.", completion: .directory) var saveParts: String?
  @Flag(help: "Keep the mail in the coffer.") var store = false
  @Option(help: "A message of the coffer.") var message: String?
  @Option(help: "An mbox file.", completion: .file()) var mbox: String?
  @Argument(help: "A file; - for standard input.", completion: .file()) var file = "-"

  func validate() throws {
    if output != nil, extract != nil { throw ValidationError("give --output or --extract, not both") }
  }

  struct Answer: Encodable {
    let output: String
    let byteCount: Int
    /// Of an archive that was unpacked.
    let files: Int?
    let decryptedWith: String?
    let format: String
    let quantumSafe: Bool
    let grade: String
    let notes: [String]
    let signatures: [VerdictWords.Answer]
  }

  func execute(_ context: CommandContext) throws {
    if let mbox, file == "-" { return try MboxList.print(mbox, try context.open(opening), context) }
    let hasPlace = extract != nil || output != nil && output != "-" || saveParts != nil || store
    guard !context.isJSON || hasPlace else {
      throw Failure.usage("with --json, the content needs --output FILE or --extract DIR")
    }
    guard message == nil || mbox == nil && file == "-" else {
      throw Failure.usage("give a file, --message or --mbox, and no two of them")
    }
    if message != nil || mbox != nil { return try decryptStored(context) }
    context.remarkTyping(file, "the message")
    let input = try LetterInput(file)
    let source = try SpooledSource(descriptor: input.descriptor)
    let mail = try context.interruptibly(input) {
      try MailInput.isMail(source) ? try MailInput.read(source, file) : nil
    }
    let coffer = try context.open(opening)
    if let mail { return try decrypt(mail: mail, input, coffer, context) }
    try requireNoMailOptions()
    try decrypt(source, input, byteCount: input.byteCount, coffer, context)
  }

  /// A mail of an mbox, or a message of the coffer, which may be anything.
  private func decryptStored(_ context: CommandContext) throws {
    // They have no name of a file.
    let input = try LetterInput("-")
    var bytes: SharedSecretBytes?
    if let mbox {
      guard let number = Int(file), number > 0 else {
        throw Failure.usage("--mbox wants the number of a mail")
      }
      bytes = try MailInput.mail(number, inMbox: mbox)
    }
    let coffer = try context.open(opening)
    let content = try bytes ?? MailInput.message(message ?? "", coffer, context)
    if content.withBytes({ MailTree.isMail($0) }) {
      return try decrypt(mail: content, input, coffer, context)
    }
    try requireNoMailOptions()
    try decrypt(MemorySource(content), input, byteCount: content.count, coffer, context)
  }

  private func requireNoMailOptions() throws {
    guard part == nil, saveParts == nil, !store else {
      throw Failure.usage("--part, --save-parts and --store are for mail, and this is not a mail")
    }
  }

  /// Decrypts a message that is not a mail.
  func decrypt(
    _ source: any RewindableSource, _ input: LetterInput, byteCount: Int?, _ coffer: Coffer,
    _ context: CommandContext
  ) throws {
    let book = try coffer.addressBook()
    let plan = try context.interruptibly(input) { try letterOpening.plan(source, book) }
    guard !plan.isForNobodyHere else { throw Failure(notForYou: plan, book) }
    let target =
      try extract.map { try DecryptedOutput(unpackingTo: $0, context) }
      ?? DecryptedOutput(output, input, context)
    // An archive is there twice for a moment.
    try LetterRoom.check(byteCount.map { ($0 + $0 / 20) * (extract == nil ? 1 : 2) }, for: target.path)
    var (reading, asked) = try letterOpening.reading(plan, book, coffer, context)
    reading.requirement = require
    let watched = WatchedInput(
      rewindable: source, title: "decrypting", total: byteCount.map { 2 * $0 }, context)
    defer { watched.finish() }
    let ready = reading
    let read: LetterReading.Result = try context.interruptibly(input) {
      try ready.read(watched, to: target, asked.lender) { verdict in
        watched.finish()
        guard !context.isJSON else { return }
        let words = VerdictWords.sentence(verdict, ready.passwords.isEmpty ? .encrypted : .password)
        target.tell("decrypted; \(words)", verdict, context.errorPalette(coffer), isDetailed: details)
      }
    }
    asked.coffer.note(.decrypted)
    if extract == nil {
      try end(read, plan, book, target, context)
    } else {
      try context.interruptibly(nil) { try end(read, plan, book, target, context) }
    }
    if read.verdict.grade == .unverified, case .contact(let contact) = read.verdict.decisive?.signer {
      let name = ShellWord.quoted(contact.name)
      context.nextSteps(coffer, "When you speak: coffer contact verify \(name)")
    }
  }

  var letterOpening: LetterOpening { LetterOpening(file: file, options: opening) }

  // MARK: Telling

  private func end(
    _ read: LetterReading.Result, _ plan: ReadingPlan, _ book: AddressBook, _ target: DecryptedOutput,
    _ context: CommandContext
  ) throws {
    let coverage = read.verdict.coverage(isForIdentity: read.identity != nil)
    try target.finish(endingWith: coverage)
    if context.isJSON, let path = target.path {
      return JSON.print(
        Answer(
          output: path, byteCount: target.byteCount, files: target.fileCount,
          decryptedWith: read.identity.map(FingerprintText.plain),
          format: read.message.format.code, quantumSafe: read.message.quantumWeaknesses.isEmpty,
          grade: read.verdict.grade.rawValue,
          notes: read.verdict.notes.map(\.code), signatures: read.verdict.findings.map { .init($0) }))
    }
    if let path = target.path {
      let amount = target.fileCount?.counted("file") ?? ByteCount.text(target.byteCount)
      context.remark("\(path)" + "\t" + "\(amount), \(coverage)")
      if target.isArchive {
        context.remark(
          "It is an archive of files: tar -xf \(ShellWord.quoted(path)); 'coffer decrypt --extract DIR' unpacks it at once."
        )
      }
    }
    if details {
      for line in detailLines(read, plan, book) { Terminal.remark(line) }
    }
  }

  func detailLines(
    _ read: LetterReading.Result, _ plan: ReadingPlan, _ book: AddressBook
  ) -> [ShownLine] {
    let format =
      switch read.message.format {
      case .version1: "that everybody reads (seipd1)"
      case .version2: "of 2024 (seipd2)"
      }
    let own = plan.identities.first { $0.certificate.fingerprint == read.identity }
    var lines: [ShownLine] = ["format      \(format)"]
    lines.append("opened with \(own.map { IdentityView($0).title } ?? "a password")")
    for recipient in plan.recipients.entries.prefix(Self.shownRecipientLimit) {
      lines.append("recipient   \(book.words(recipient.recipient))")
    }
    lines.append("quantum     \(book.quantumSafety(read.message.quantumWeaknesses))")
    let rest = plan.recipients.entries.count - Self.shownRecipientLimit
    if rest > 0 { lines.append("and \(rest) more") }
    if plan.hasPassword { lines.append("recipient   anybody with the password") }
    if !read.message.literal.fileName.isEmpty {
      let name = String(decoding: read.message.literal.fileName, as: UTF8.self)
      lines.append("named       \(LetterWords.quoted(name)) by its sender; nobody has signed that")
    }
    return lines
  }

  private static let shownRecipientLimit = 32
}

extension Verdict {
  /// How much of the content is signed.
  /// - Parameter isForIdentity: whether an identity has opened it, and not a password, which says nothing about whom
  ///   the signer has meant.
  fileprivate func coverage(isForIdentity: Bool) -> String {
    guard grade == .verified || grade == .unverified else { return "nothing of it signed" }
    if notes.contains(.othersNamed) { return "all of it signed, for others" }
    return isForIdentity && !notes.contains(.noRecipientsNamed)
      ? "all of it signed and for you" : "all of it signed"
  }
}

extension AddressBook {
  /// Whether a quantum computer could open a message, and because of what.
  fileprivate func quantumSafety(_ weaknesses: [QuantumWeakness]) -> String {
    guard let first = weaknesses.first else { return "safe against quantum computers" }
    let reason =
      switch first {
      case .key(let recipient, _): words(recipient)
      case .unreadable: "a key that cannot be read"
      case .cipher: "a cipher with short keys"
      }
    let others = weaknesses.count > 1 ? ", and \((weaknesses.count - 1).counted("other"))" : ""
    return "not safe against quantum computers, because of: \(reason)\(others)"
  }

  /// A recipient that a message names.
  fileprivate func words(_ recipient: PKESK.Recipient) -> String {
    let isMeant: (PublicKey) -> Bool =
      switch recipient {
      case .anonymous: { _ in false }
      case .keyID(let id): { $0.keyID == id }
      case .fingerprint(let fingerprint): { $0.fingerprint == fingerprint }
      }
    if let own = identities.first(where: { $0.certificate.publicKeys.contains(where: isMeant) }) {
      return "you, as \(LetterWords.quoted(IdentityView(own).title))"
    }
    for contact in contacts
    where contact.certificates.contains(where: { $0.publicKeys.contains(where: isMeant) }) {
      return LetterWords.quoted(contact.entry.name)
    }
    return recipient.code ?? "hidden"
  }
}

extension PKESK.Recipient {
  /// Hexadecimal digits; nil for a hidden one.
  fileprivate var code: String? {
    switch self {
    case .anonymous: nil
    case .keyID(let id): ContactWords.hexadecimal(id.bytes)
    case .fingerprint(let fingerprint): FingerprintText.plain(fingerprint)
    }
  }
}

extension Failure {
  /// Nobody here can read it; says for whom it is.
  init(notForYou plan: ReadingPlan, _ book: AddressBook) {
    if let lost = plan.lost.first {
      self.init(
        .missing, "identity_gone",
        "this message is for your identity \(LetterWords.quoted(IdentityView(lost).title)), whose private part is lost",
        hint: "coffer identity import BACKUP")
    } else {
      let named = plan.recipients.entries.filter { $0.recipient != .anonymous }
      var readers = named.prefix(Self.namedReaderLimit).map { book.words($0.recipient) }
      if named.count > Self.namedReaderLimit { readers.append("\(named.count - Self.namedReaderLimit) more") }
      let hidden = plan.recipients.hiddenCount
      if hidden > 0 { readers.append("\(hidden.counted("hidden reader"))") }
      let whom = readers.isEmpty ? "" : ". It is for \(LetterWords.list(readers))"
      self.init(
        .missing, "not_for_you", "this message is not for you\(whom)",
        hint: book.identities.isEmpty
          ? "if you had an identity before: coffer identity import BACKUP"
          : "ask the sender to send it again, with your public part: coffer identity export me")
    }
    recipients = plan.recipients.entries.prefix(Self.listedReaderLimit).map(\.recipient.code)
  }

  private static let namedReaderLimit = 5
  /// A message to a mailing list may name thousands.
  private static let listedReaderLimit = 1000

  /// The message hides its readers, and none of the keys here opens it.
  static func notForYouAfterTrying() -> Failure {
    Failure(
      .missing, "not_for_you",
      "this message is not for you: it hides its readers, and none of your keys opens it",
      hint: "ask the sender to send it again, with your public part: coffer identity export me")
  }
}
