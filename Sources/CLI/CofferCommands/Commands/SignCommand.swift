// SPDX-License-Identifier: Apache-2.0
//
// Signs a file. All of it is hashed before anybody is asked, and the private part is open for the digest alone.

internal import ArgumentParser
internal import CofferKit
internal import Correspondence
internal import Foundation
internal import Identities
internal import OpenPGP
internal import Secrets

struct SignCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "sign", abstract: "Sign a file.")
  static let page = """
    coffer sign: sign a file

    usage: coffer sign [--as WHO] [--clear] [--output FILE] FILE
           coffer sign --mail [--to ADDRESS]... [--subject S] [--attach FILE]... [--attach-key]
                       [--as WHO] [--output FILE] FILE
                       \(OpeningOptions.usage)

    Writes the signature beside the file, with .asc at the end of its name; who has both can check it.
    Standard input (-) gives a signature on standard output. Overwrites nothing.

      --as      sign as this identity instead of the default one
      --clear   write the text itself, still readable, and the signature under it
      --output  write this file; - for standard output
      --mail    write a mail from you, FILE.eml, that any program can send
      --to      of a mail: whom it goes to, as 'Name <address>'; may be repeated
      --subject  of a mail: its subject
      --attach  of a mail: a file that goes with it; may be repeated
      --attach-key  of a mail: your public part goes with it

    example: coffer sign report.pdf
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(name: .customLong("as"), help: "Sign as this identity.", completion: Completions.identities)
  var signer: String?
  @Flag(help: "Write the text itself, readable.") var clear = false
  @Option(help: "Write this file.", completion: .file()) var output: String?
  @Flag(help: "Write a mail.") var mail = false
  @Option(help: "Whom a mail goes to.", completion: Completions.people) var to: [String] = []
  @Option(help: "The subject of a mail.") var subject: String?
  @Option(help: "A file that goes with a mail.", completion: .file()) var attach: [String] = []
  @Flag(help: "Your public part goes with a mail.") var attachKey = false
  @Argument(help: "A file; - for standard input.", completion: .file()) var file: String

  struct Answer: Encodable {
    let output: String
    let signedBy: String
  }

  func validate() throws {
    if mail, clear { throw ValidationError("give --mail or --clear, not both") }
    if !mail, subject != nil || !attach.isEmpty || !to.isEmpty || attachKey {
      throw ValidationError("--to, --subject, --attach and --attach-key go with --mail")
    }
  }

  func execute(_ context: CommandContext) throws {
    if mail { return try signMail(context) }
    let path = output.map { $0 == "-" ? nil : $0 } ?? (file == "-" ? nil : LetterNames.signed(file))
    guard !context.isJSON || path != nil else {
      throw Failure.usage("with --json, the signature needs --output FILE")
    }
    let input = try LetterInput(file, allowsDirectory: true)
    guard !input.isDirectory else {
      throw Failure(
        .usage, "wrong_kind", "'\(file)' is a directory", hint: "'coffer encrypt' makes one archive of it")
    }
    let coffer = try context.open(opening)
    let book = try coffer.addressBook()
    let identity = try identity(book)
    let publicKey = try identity.signingKey(at: book.time)
    guard identity.hasPrivatePart else { throw CorrespondenceError.noPrivatePart }
    let target = try LetterOutput(path: path, record: path == nil ? nil : context.unfinishedExports())
    let title = IdentityView(identity).title
    let asked = PrivatePartAsked(context, coffer, opening, purpose: "to sign \(words(input)) as \(title)")
    let key = BorrowedKey(publicKey, of: identity.certificate.fingerprint, lend: asked.lender)
    context.remarkTyping(file, "the text")
    try write(key, input, book.time, to: target, context)
    asked.coffer.note(.signed)
    guard let path else { return }
    if context.isJSON { return JSON.print(Answer(output: path, signedBy: identity.fingerprint)) }
    context.remark("\(path)" + "\t" + "signed as \(LetterWords.quoted(title))")
  }

  /// The identity that signs.
  func identity(_ book: AddressBook) throws -> Identity {
    if let signer { return try book.identities.chosen(signer) }
    guard let first = book.identities.first else { throw CorrespondenceError.noIdentity }
    return first
  }

  private func words(_ input: LetterInput) -> String {
    guard !input.isStandardInput else { return "standard input" }
    let name = (input.path as NSString).lastPathComponent
    return name + (input.byteCount.map { " (\(ByteCount.text($0)))" } ?? "")
  }

  private func write(
    _ key: BorrowedKey, _ input: LetterInput, _ time: Timestamp, to target: LetterOutput,
    _ context: CommandContext
  ) throws {
    let source = WatchedSource(
      FileDescriptorSource(descriptor: input.descriptor), title: "hashing", total: input.byteCount, context)
    defer { source.finish() }
    let text = clear ? try readText(input) : nil
    try context.interruptibly(input) {
      do throws(OpenPGPError) {
        if let text {
          try text.withBytes { (bytes) throws(OpenPGPError) in
            try CleartextSigner([key], time: time).sign(bytes, writingTo: target)
          }
        } else {
          let signatures = try DetachedSigning([key], time: time).sign(source)
          let armor = try ArmorWriter(target, kind: .signature)
          for signature in signatures { try Packet.signature(signature).write(to: armor) }
          try armor.finish()
        }
        try target.finish()
      } catch {
        throw key.failure ?? Failure(openPGP: error, writing: target.path ?? "-")
      }
    }
  }

  private func readText(_ input: LetterInput) throws -> SharedSecretBytes {
    let bytes: SecretBytes
    do throws(SecretReadError) {
      bytes = try SecretBytes.read(
        fromDescriptor: input.descriptor, byteCountLimit: Limits.cleartextByteCount)
    } catch {
      guard case .tooLong = error else { throw Failure(cannotRead: input.path, 0) }
      throw Failure(
        .refused, "malformed", "this text is too long to be signed readably", hint: "sign it without --clear")
    }
    let isText = bytes.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) != nil }
    }
    guard isText else { throw Failure(openPGP: .notText) }
    return SharedSecretBytes(bytes)
  }
}
