// SPDX-License-Identifier: Apache-2.0
//
// Encrypts a text and files as a mail, ready to be sent by any program.

internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets

extension EncryptCommand {
  /// Writes an encrypted mail.
  func encryptMail(_ context: CommandContext) throws {
    let path = try MailWriting.outputPath(files, output)
    guard !context.isJSON || path != nil else {
      throw Failure.usage("with --json, the mail needs --output FILE")
    }
    context.remarkTyping(files.first ?? "-", "the text")
    let text = try MailWriting.text(files)
    let attached = try MailWriting.files(attach)
    let coffer = try context.open(opening)
    let message = try message(coffer)
    let identities = try coffer.addressBook().identities
    let draft = try MailWriting.draft(
      from: try signer.map { try identities.chosen($0) } ?? identities.first,
      to: message.recipients.filter { !$0.isSelf }.map { try $0.correspondent.mailbox() },
      subject: subject ?? "",
      at: message.time, text, attached, attachesKey: attachKey)
    let content = draft.encryptedPart()
    let target = try LetterOutput(path: path, record: context.unfinishedExports())
    try LetterRoom.check(content.count / 2 * 3, for: path)
    context.remark("\(LetterWords.readers(message, hasPassword: false))")
    if let downgrade = LetterWords.downgrade(message) { context.remark("\(downgrade)") }
    if let weakened = LetterWords.quantumWeakened(message) { context.remark("\(weakened)") }
    for line in LetterWords.replaced(message) { context.remark("\(line)") }
    MailWriting.tell(subject, attachesKey: attachKey, context)
    let asked = PrivatePartAsked(context, coffer, opening, purpose: purpose(message))
    if message.signer != nil { try asked.ask() }
    let written = try write(draft, content, message, asked, to: target)
    asked.coffer.note(.encrypted)
    if message.signer != nil { asked.coffer.note(.signed) }
    guard let path else { return }
    if context.isJSON {
      JSON.print(answer(message, path, written, target.byteCount))
    } else {
      context.remark("\(path)" + "\t" + "\(ByteCount.text(target.byteCount))")
    }
  }

  private func write(
    _ draft: MailDraft, _ content: SharedSecretBytes, _ message: OutgoingMessage, _ asked: PrivatePartAsked,
    to target: LetterOutput
  ) throws -> MessageEncryption {
    var encryption = try message.encryption(passwords: [])
    let borrowed = try borrowedKey(message, asked)
    encryption.signers = [borrowed].compactMap(\.self)
    let (before, after) = draft.encryptedMail()
    do throws(OpenPGPError) {
      try target.write(Array(before.utf8))
      let armor = try ArmorWriter(CRLFSink(target), kind: .message)
      try encryption.encrypt(from: MemorySource(content), to: armor)
      try armor.finish()
      try target.write(Array(after.utf8))
      try target.finish()
    } catch {
      throw borrowed?.failure ?? Failure(openPGP: error, writing: target.path ?? "-")
    }
    return encryption
  }
}

extension SignCommand {
  /// Writes a mail that is signed and not encrypted.
  func signMail(_ context: CommandContext) throws {
    let path = try MailWriting.outputPath([file], output)
    guard !context.isJSON || path != nil else {
      throw Failure.usage("with --json, the mail needs --output FILE")
    }
    context.remarkTyping(file, "the text")
    let text = try MailWriting.text([file])
    let attached = try MailWriting.files(attach)
    let recipients = try to.map { try Mailbox($0) }
    let coffer = try context.open(opening)
    let book = try coffer.addressBook()
    let identity = try identity(book)
    let publicKey = try identity.signingKey(at: book.time)
    guard identity.hasPrivatePart else { throw CorrespondenceError.noPrivatePart }
    let draft = try MailWriting.draft(
      from: identity, to: recipients, subject: subject ?? "", at: book.time, text, attached,
      attachesKey: attachKey)
    let target = try LetterOutput(path: path, record: context.unfinishedExports())
    let title = IdentityView(identity).title
    MailWriting.tell(subject, attachesKey: attachKey, context)
    let asked = PrivatePartAsked(context, coffer, opening, purpose: "to sign a mail as \(title)")
    let key = BorrowedKey(publicKey, of: identity.certificate.fingerprint, lend: asked.lender)
    try write(draft, key, book.time, to: target)
    asked.coffer.note(.signed)
    guard let path else { return }
    if context.isJSON { return JSON.print(Answer(output: path, signedBy: identity.fingerprint)) }
    context.remark("\(path)" + "\t" + "signed as \(title)")
  }

  private func write(
    _ draft: MailDraft, _ key: BorrowedKey, _ time: Timestamp, to target: LetterOutput
  ) throws {
    let content = draft.signedPart()
    do throws(OpenPGPError) {
      let signatures = try DetachedSigning([key], time: time).sign(MemorySource(content))
      let mail = draft.signedMail(hash: (signatures[0].hash.textName ?? "SHA512").lowercased())
      try target.write(Array(mail.before.utf8))
      try content.withBytes { (bytes) throws(OpenPGPError) in try target.write(bytes) }
      try target.write(Array(mail.between.utf8))
      let armor = try ArmorWriter(CRLFSink(target), kind: .signature)
      for signature in signatures { try Packet.signature(signature).write(to: armor) }
      try armor.finish()
      try target.write(Array(mail.after.utf8))
      try target.finish()
    } catch {
      throw key.failure ?? Failure(openPGP: error, writing: target.path ?? "-")
    }
  }
}

/// What mails are made of.
enum MailWriting {
  /// Beside the text; nil for standard output.
  static func outputPath(_ files: [String], _ output: String?) throws -> String? {
    guard files.count <= 1 else { throw Failure.usage("a mail has one text; --attach FILE adds a file") }
    if let output { return output == "-" ? nil : output }
    guard let file = files.first, file != "-" else { return nil }
    return file + ".eml"
  }

  /// The text of a mail, from a file or standard input.
  static func text(_ files: [String]) throws -> SharedSecretBytes {
    let path = files.first ?? "-"
    return SharedSecretBytes(
      try InputFile.read(path, byteCountLimit: MessageLimits.messageByteCount, tooLong: MailError.tooLarge))
  }

  /// Says what goes along that is not in the text, and what is lacking.
  static func tell(_ subject: String?, attachesKey: Bool, _ context: CommandContext) {
    if attachesKey { context.remark("Your public part goes along, for the answer.") }
    if (subject ?? "").isEmpty { context.remark("The mail has no subject: --subject TEXT gives it one.") }
  }

  static func files(_ paths: [String]) throws -> [MailDraft.File] {
    try paths.map { path in
      guard path != "-" else { throw Failure.usage("--attach wants a file with a name") }
      let content = try InputFile.read(
        path, byteCountLimit: MessageLimits.messageByteCount, tooLong: MailError.tooLarge)
      return MailDraft.File(name: (path as NSString).lastPathComponent, content: SharedSecretBytes(content))
    }
  }

  static func draft(
    from identity: Identity?, to: [Mailbox], subject: String, at time: Timestamp, _ text: SharedSecretBytes,
    _ files: [MailDraft.File], attachesKey: Bool
  ) throws -> MailDraft {
    guard let identity else { throw CorrespondenceError.noIdentity }
    let from = try Correspondent.identity(identity).mailbox()
    return try MailDraft(
      from: from, to: to, subject: subject, date: Int64(time.secondsSince1970), text: text, files: files,
      marks: MailDraft.Marks(random: SystemRandom.publicBytes(count: 48)),
      publicPart: attachesKey ? publicPart(of: identity, from.address, at: time) : nil)
  }

  /// The least that somebody needs to write back.
  private static func publicPart(
    of identity: Identity, _ address: String, at time: Timestamp
  ) throws -> MailDraft.PublicPart {
    let valid = ValidCertificate(identity.certificate, at: time, now: time, policy: .standard)
    let bound = valid.userIDs.first {
      $0.problem == nil && UserIDText(String(decoding: $0.userID.bytes, as: UTF8.self)).address == address
    }
    guard valid.problem == nil, let bound else { throw MailDraftError.address(address) }
    let minimal = identity.certificate.reducedToNecessities(
      at: time, policy: .standard, userID: bound.userID)
    let (packets, armored) = (ArraySink(), ArraySink())
    do throws(OpenPGPError) {
      try minimal.write(to: packets)
      let armor = try ArmorWriter(CRLFSink(armored), kind: .publicKey)
      try minimal.write(to: armor)
      try armor.finish()
    } catch { throw Failure(openPGP: error) }
    return MailDraft.PublicPart(
      address: address, packets: packets.bytes,
      armored: SharedSecretBytes(SecretBytes(copying: armored.bytes.rawSpan)))
  }
}

extension Correspondent {
  /// Whom a mail is from or goes to, by the words of their own public part.
  /// - Throws: `MailDraftError` when it has no address that a mail could go to.
  fileprivate func mailbox() throws -> Mailbox {
    let userIDs: [UserIDText] =
      switch self {
      case .identity(let own): own.userIDs
      case .contact(let contact): (contact.entry.keyInUse?.summary.userIDs ?? []).map { UserIDText($0) }
      case .stranger(let certificate):
        certificate.userIDs.map { UserIDText(String(decoding: $0.packet.bytes, as: UTF8.self)) }
      }
    let found = userIDs.compactMap { userID in
      userID.address.flatMap { try? Mailbox(name: userID.name, address: $0) }
    }
    guard let first = found.first else { throw MailDraftError.address(name) }
    return first
  }
}

/// Gives lines CR LF, as mail has them.
private final class CRLFSink: ByteSink {
  private let sink: any ByteSink

  init(_ sink: any ByteSink) { self.sink = sink }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    var converted: [UInt8] = []
    converted.reserveCapacity(bytes.byteCount + bytes.byteCount / 32)
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte == 0x0A { converted.append(0x0D) }
      converted.append(byte)
    }
    try sink.write(converted)
  }
}
