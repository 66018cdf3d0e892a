// SPDX-License-Identifier: Apache-2.0
//
// Encrypts files to people. Everything that can be refused is refused before anybody is asked; the private part that
// signs is opened when all of the data has been hashed.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import Glibc
internal import Identities
internal import KeyCustody
internal import Keychains
internal import OpenPGP
internal import ProtectedData
internal import Secrets

struct EncryptCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "encrypt", abstract: "Encrypt to people.")
  static let page = """
    coffer encrypt: encrypt files or text to people, signed as you

    usage: coffer encrypt [--to WHO]... [--to-file PATH]... [--password] [--as WHO] [--no-sign] [--no-self]
                          [--armor] [--output FILE] [FILE...|DIRECTORY|-]
           coffer encrypt --mail --to WHO... [--subject S] [--attach FILE]... [--attach-key] [--as WHO]
                          [--no-sign] [--no-self] [--output FILE] [FILE|-]
                          \(OpeningOptions.usage)

    WHO is a contact or an identity: a fingerprint, an address, a name, or beginnings of its words. A file is
    written beside the original, with .pgp at its end. A directory, or several files, become one archive.
    Standard input goes to standard output, as text. Overwrites nothing. With --mail a text becomes a mail,
    FILE.eml, that any program can send.

      --to         somebody who can read it; may be repeated
      --to-file    somebody whose public part is in this file, which is not stored; may be repeated
      --password   anybody who knows the password that you are asked for can read it
      --as         sign as this identity instead of the default one
      --no-sign    do not sign
      --no-self    do not encrypt to yourself: you will not be able to read it
      --armor      write text, with .asc at the end of its name
      --output     write this file; - for standard output
      --mail       write a mail from you to everybody who is named
      --subject    of a mail: its subject, which is encrypted too
      --attach     of a mail: a file that goes with it; may be repeated
      --attach-key  of a mail: your public part goes with it, encrypted too

    example: coffer encrypt --to bob --to carol@example.org letter.txt
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Somebody who can read it.", completion: Completions.people) var to: [String] = []
  @Option(help: "A file with a public part.", completion: .file()) var toFile: [String] = []
  @Flag(help: "Anybody who knows a password can read it.") var password = false
  @Option(name: .customLong("as"), help: "Sign as this identity.", completion: Completions.identities)
  var signer: String?
  @Flag(help: "Do not sign.") var noSign = false
  @Flag(help: "Do not encrypt to yourself.") var noSelf = false
  @Flag(help: "Write text.") var armor = false
  @Option(help: "Write this file.", completion: .file()) var output: String?
  @Flag(help: "Write a mail.") var mail = false
  @Option(help: "The subject of a mail.") var subject: String?
  @Option(help: "A file that goes with a mail.", completion: .file()) var attach: [String] = []
  @Flag(help: "Your public part goes with a mail.") var attachKey = false
  @Argument(help: "Files or a directory; - for standard input.", completion: .file()) var files: [String] = []

  func validate() throws {
    if to.isEmpty, toFile.isEmpty, !password {
      throw ValidationError("nobody could read it; give --to WHO, --to-file PATH or --password")
    }
    if mail, password || armor { throw ValidationError("--password and --armor do not go with --mail") }
    if !mail, subject != nil || !attach.isEmpty || attachKey {
      throw ValidationError("--subject, --attach and --attach-key go with --mail")
    }
    if noSign, signer != nil { throw ValidationError("give --as or --no-sign, not both") }
  }

  struct Answer: Encodable {
    struct Recipient: Encodable {
      let fingerprint: String
      let contact: String?
      let verified: Bool
      let `self`: Bool
      let replacedBy: String?
    }
    let output: String
    let recipients: [Recipient]
    let signedBy: String?
    let format: String
    let downgradedFor: [String]
    let quantumSafe: Bool
    let quantumUnsafeFor: [String]
    let byteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    if mail { return try encryptMail(context) }
    let content = try LetterContent(files)
    let path = try outputPath(content)
    guard !context.isJSON || path != nil else {
      throw Failure.usage("with --json, the message needs --output FILE")
    }
    let coffer = try context.open(opening)
    let message = try message(coffer)
    let target = try LetterOutput(path: path, record: path == nil ? nil : context.unfinishedExports())
    try LetterRoom.check(
      content.byteCount.map { isArmored(path) ? $0 / 3 * 4 + $0 / 40 : $0 + 4096 }, for: path)
    context.remark("\(LetterWords.readers(message, hasPassword: password))")
    if let downgrade = LetterWords.downgrade(message) { context.remark("\(downgrade)") }
    if let weakened = LetterWords.quantumWeakened(message) { context.remark("\(weakened)") }
    for line in LetterWords.replaced(message) { context.remark("\(line)") }
    for name in content.leftOut { context.remark("left out, not a file: '\(name)'") }
    let passwords = password ? [try newPassword(context)] : []
    let asked = PrivatePartAsked(context, coffer, opening, purpose: purpose(message))
    if message.signer != nil, try !coffer.authenticationMode().asksForFinger { try asked.ask() }
    let written = try write(message, content, passwords, asked, to: target, context)
    asked.coffer.note(.encrypted)
    if message.signer != nil { asked.coffer.note(.signed) }
    if context.isJSON {
      guard let path else { return }
      JSON.print(answer(message, path, written, target.byteCount))
    } else if let path {
      var line: ShownLine = "\(path)"
      if let count = content.fileCount {
        line += "\t" + "\(count.counted("file")), \(ByteCount.text(target.byteCount))"
      }
      context.remark(line)
    }
    let others = message.recipients.contains {
      if case .identity = $0.correspondent { false } else { true }
    }
    if others { context.nextSteps(coffer, "Send it. Their reply: coffer decrypt FILE") }
  }

  // MARK: Before anybody is asked

  /// Everybody who can read it, who signs, and the format.
  func message(_ coffer: Coffer) throws -> OutgoingMessage {
    let book = try coffer.addressBook()
    let own: Identity?
    if let signer {
      own = try book.identities.chosen(signer)
    } else {
      own = book.identities.first
    }
    let isForSelf = noSelf ? false : try coffer.encryptsToSelf()
    guard own != nil || noSign && !isForSelf else { throw CorrespondenceError.noIdentity }
    var named: [(who: String, correspondent: Correspondent)] = []
    for who in to { named.append((who, try book.meant(by: who))) }
    for path in toFile {
      let parts = try PublicParts(SharedSecretBytes(try Self.read(path)))
      named += book.merging(parts).map { (path, $0) }
    }
    return try OutgoingMessage(
      to: named, signer: noSign ? nil : own, own: isForSelf ? own : nil, at: book.time, in: book)
  }

  private static func read(_ path: String) throws -> SecretBytes {
    let input = try LetterInput(path)
    do throws(SecretReadError) {
      return try SecretBytes.read(
        fromDescriptor: input.descriptor, byteCountLimit: Limits.certificateByteCount)
    } catch {
      switch error {
      case .tooLong: throw ContactError.certificateTooLarge
      case .cannotOpen(let code), .readFailed(let code): throw Failure(cannotRead: path, code)
      }
    }
  }

  private func outputPath(_ content: LetterContent) throws -> String? {
    if let output { return output == "-" ? nil : output }
    switch content.kind {
    case .standardInput: return nil
    case .file(let input): return LetterNames.encrypted(input.path, isArmored: armor)
    case .archive where files.count == 1: return LetterNames.archive(files[0], isArmored: armor)
    case .archive:
      throw Failure.usage(
        "several files become one archive, which needs a name",
        hint: "--output NAME.tar.\(armor ? "asc" : "pgp")")
    }
  }

  private func isArmored(_ path: String?) -> Bool { armor || path == nil }

  func purpose(_ message: OutgoingMessage) -> String {
    "to sign as \(message.signer.map { IdentityView($0).title } ?? "")"
  }

  private func newPassword(_ context: CommandContext) throws -> SharedSecretBytes {
    context.remark("Anybody with this password can read it. Give it to them another way than the message.")
    return SharedSecretBytes(try context.newPassphrase(nil, policy: .usual))
  }

  // MARK: Writing

  /// The key that signs; nil for none.
  func borrowedKey(_ message: OutgoingMessage, _ asked: PrivatePartAsked) throws -> BorrowedKey? {
    try message.signer.map { signer in
      BorrowedKey(
        try signer.signingKey(at: message.time), of: signer.certificate.fingerprint, lend: asked.lender)
    }
  }

  private func write(
    _ message: OutgoingMessage, _ content: LetterContent, _ passwords: [SharedSecretBytes],
    _ asked: PrivatePartAsked, to target: LetterOutput, _ context: CommandContext
  ) throws -> MessageEncryption {
    var encryption = try message.encryption(passwords: passwords)
    let borrowed = try borrowedKey(message, asked)
    encryption.signers = [borrowed].compactMap(\.self)
    let ready = encryption
    if case .standardInput = content.kind { context.remarkTyping("-", "the message") }
    let source = WatchedSource(content.source, title: "encrypting", total: content.byteCount, context)
    defer { source.finish() }
    do {
      try context.interruptibly(content.input) {
        do throws(OpenPGPError) {
          if isArmored(target.path) {
            let armored = try ArmorWriter(target, kind: .message)
            try ready.encrypt(from: source, to: armored)
            try armored.finish()
          } else {
            try ready.encrypt(from: source, to: target)
          }
          try target.finish()
        } catch {
          throw borrowed?.failure ?? Failure(openPGP: error, writing: target.path ?? "-")
        }
      }
    }
    return ready
  }

  func answer(
    _ message: OutgoingMessage, _ path: String, _ written: MessageEncryption, _ byteCount: Int
  ) -> Answer {
    let recipients = message.recipients.map { recipient in
      var contact: String?
      if case .contact(let found) = recipient.correspondent { contact = found.entry.name }
      return Answer.Recipient(
        fingerprint: FingerprintText.plain(recipient.certificate.fingerprint), contact: contact,
        verified: recipient.correspondent.isVerified, self: recipient.isSelf,
        replacedBy: (recipient.successor?.certificate?.fingerprint).map(FingerprintText.plain))
    }
    return Answer(
      output: path, recipients: recipients, signedBy: message.signer?.fingerprint,
      format: written.format.code,
      downgradedFor: message.downgradedFor.map { FingerprintText.plain($0.certificate.fingerprint) },
      quantumSafe: written.quantumWeaknesses.isEmpty,
      quantumUnsafeFor: message.quantumUnsafeFor.map { FingerprintText.plain($0.certificate.fingerprint) },
      byteCount: byteCount)
  }
}

extension AuthenticationMode {
  /// A finger is good for half a minute. Reading the data may take longer, so it is asked for afterwards.
  fileprivate var asksForFinger: Bool { self == .standardWithFinger || self == .highSecurityWithFinger }
}

extension EncryptionFormat {
  /// For programs; stable.
  var code: String {
    switch self {
    case .version1: "seipd1"
    case .version2: "seipd2"
    }
  }
}

/// What is to be encrypted.
struct LetterContent {
  enum Kind {
    case standardInput
    case file(LetterInput)
    case archive(TarSource)
  }

  let kind: Kind
  let source: any ByteSource
  /// What is read from; nil for an archive.
  let input: LetterInput?
  /// Nil if it is not known.
  let byteCount: Int?

  init(_ files: [String]) throws {
    let files = files.isEmpty ? ["-"] : files
    if files.contains("-") {
      guard files.count == 1 else { throw Failure.usage("'-' is standard input, and goes alone") }
    }
    let first = try LetterInput(files[0], allowsDirectory: true)
    if files.count > 1 || first.isDirectory {
      let files = try files.map { try CommandSurroundings.current.files.path($0) }
      do throws(OpenPGPError) {
        let archive = try TarSource(paths: files)
        (kind, source, input, byteCount) = (.archive(archive), archive, nil, archive.byteCount)
      } catch {
        throw Failure(openPGP: error, writing: files.count == 1 ? files[0] : "the files")
      }
      return
    }
    source = FileDescriptorSource(descriptor: first.descriptor)
    kind = first.isStandardInput ? .standardInput : .file(first)
    (input, byteCount) = (first, first.byteCount)
  }

  var fileCount: Int? { if case .archive(let archive) = kind { archive.fileCount } else { nil } }

  var leftOut: [String] { if case .archive(let archive) = kind { archive.leftOut } else { [] } }
}
