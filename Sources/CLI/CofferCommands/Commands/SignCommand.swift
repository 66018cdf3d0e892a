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
                       \(OpeningOptions.usage)

    Writes the signature beside the file, with .asc at the end of its name; who has both can check it.
    Standard input (-) gives a signature on standard output. Overwrites nothing.

      --as      sign as this identity instead of the default one
      --clear   write the text itself, still readable, and the signature under it
      --output  write this file; - for standard output

    example: coffer sign report.pdf
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(name: .customLong("as"), help: "Sign as this identity.") var signer: String?
  @Flag(help: "Write the text itself, readable.") var clear = false
  @Option(help: "Write this file.", completion: .file()) var output: String?
  @Argument(help: "A file; - for standard input.", completion: .file()) var file: String

  struct Answer: Encodable {
    let output: String
    let signedBy: String
  }

  func execute(_ context: CommandContext) throws {
    let path = output.map { $0 == "-" ? nil : $0 } ?? (file == "-" ? nil : LetterNames.signed(file))
    guard !context.isJSON || path != nil else {
      throw Failure.usage("with --json, the signature needs --output FILE")
    }
    let input = try LetterInput(file)
    guard !input.isDirectory else {
      throw Failure(
        .usage, "wrong_kind", "'\(file)' is a directory", hint: "'coffer encrypt' makes one archive of it")
    }
    let coffer = try context.open(opening)
    let book = try coffer.addressBook()
    let identity: Identity
    if let signer {
      identity = try book.identities.chosen(signer)
    } else if let first = book.identities.first {
      identity = first
    } else {
      throw CorrespondenceError.noIdentity
    }
    let publicKey = try identity.signingKey(at: book.time)
    guard identity.hasPrivatePart else { throw CorrespondenceError.noPrivatePart }
    let target = try LetterOutput(path: path)
    let title = IdentityView(identity).title
    let asked = PrivatePartAsked(context, coffer, opening, purpose: "to sign \(subject(input)) as \(title)")
    let key = BorrowedKey(publicKey, of: identity.certificate.fingerprint, lend: asked.lender)
    try write(key, input, book.time, to: target, context)
    asked.coffer.note(.signed)
    guard let path else { return }
    if context.isJSON { return JSON.print(Answer(output: path, signedBy: identity.fingerprint)) }
    context.remark("\(path)" + "\t" + "signed as \(LetterWords.quoted(title))")
  }

  private func subject(_ input: LetterInput) -> String {
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
