// SPDX-License-Identifier: Apache-2.0
//
// Verifies signatures: beside a file, or in a message that is signed and not encrypted. Nothing is asked for but an
// open coffer.

internal import ArgumentParser
internal import CofferKit
internal import Correspondence
internal import Foundation
internal import Glibc
internal import OpenPGP
internal import Secrets

struct VerifyCommand: CofferCommand {
  enum Requirement: String, ExpressibleByArgument, CaseIterable { case verified }

  static let configuration = CommandConfiguration(commandName: "verify", abstract: "Check a signature.")
  static let page = """
    coffer verify: check who signed a file

    usage: coffer verify [--signature FILE] [--require verified] [--output FILE] [--part N]
                         [--save-parts DIR] FILE|--message WHICH|--mbox FILE N
                         \(OpeningOptions.usage)

    FILE is a signature, whose file is found beside it under the name without .asc or .sig; or a message or a
    mail that is signed and not encrypted, whose content is shown or written if a contact or you have signed
    it. A message that is named as if it were the signature of the file beside it is refused, unless its
    content is that of the file.

      --signature  the signature, if FILE is what it was made for
      --require    verified: contacts that are not verified do not count
      --output     write the content of a message to this new file
      --part       of a mail: write the part with this number
      --save-parts  of a mail: write its other parts into this folder, which is made
      --message    a mail of the coffer, instead of a file
      --mbox       the mail N of this mbox file

    example: coffer verify report.pdf.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "The signature.", completion: .file()) var signature: String?
  @Option(help: "verified.") var require: Requirement?
  @Option(help: "Write this file.", completion: .file()) var output: String?
  @Option(help: "The part with this number.") var part: Int?
  @Option(help: "Write parts into this folder.", completion: .directory) var saveParts: String?
  @Option(help: "A message of the coffer.") var message: String?
  @Option(help: "An mbox file.", completion: .file()) var mbox: String?
  @Argument(help: "A signature, a message or a mail.", completion: .file()) var file = ""

  func validate() throws {
    guard (message == nil) == !file.isEmpty, message == nil || mbox == nil else {
      throw ValidationError("give one FILE, --message WHICH, or --mbox FILE N")
    }
  }

  struct Answer: Encodable {
    let file: String
    let output: String?
    let grade: String
    let notes: [String]
    let signatures: [VerdictWords.Answer]
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let judge = SignatureJudge(try coffer.addressBook())
    let palette = context.errorPalette(coffer)
    if let mail = try stored(coffer, context) {
      return try verify(mail: mail, LetterInput("-"), "the mail", judge, context)
    }
    if let signature {
      let input = try LetterInput(signature)
      let list = try context.interruptibly(input) {
        try signatures(in: try SpooledSource(descriptor: input.descriptor))
      }
      return try verify(list, of: file, judge, palette, context)
    }
    context.remarkTyping(file, "the signed message")
    let input = try LetterInput(file)
    let source = try SpooledSource(descriptor: input.descriptor)
    let mail = try context.interruptibly(input) {
      try MailInput.isMail(source) ? try MailInput.read(source, file) : nil
    }
    if let mail {
      let name = input.isStandardInput ? "standard input" : (input.path as NSString).lastPathComponent
      return try verify(mail: mail, input, name, judge, context)
    }
    guard part == nil, saveParts == nil else {
      throw Failure.usage("--part and --save-parts are for mail, and this is not a mail")
    }
    if try source.withNext({ (next) throws(OpenPGPError) in InputKind.isBackup(next) }) {
      throw PictureCode.named(Failure(backupInPlaceOf: "a signature or a signed message"), file)
    }
    try context.interruptibly(input) {
      let form: OpenPGPInput
      do throws(OpenPGPError) { form = try OpenPGPInput(source) } catch { throw unreadable(error, source) }
      switch form {
      case .cleartext(let message):
        try checkBeside(isText: true, context) { (content) throws(OpenPGPError) in
          _ = try message.verify(with: judge.verifier, writingTo: content) { _ in true }
        }
        try verify(message, input, judge, palette, context)
      case .armored(let reader) where reader.kind == .signature:
        try verifyBeside(source, judge, palette, context)
      case .armored: try verifyMessage(source, input, judge, palette, context)
      case .binary: try verifyBinary(source, input, judge, palette, context)
      }
    }
  }

  /// A mail of the coffer, or of an mbox.
  private func stored(_ coffer: Coffer, _ context: CommandContext) throws -> SharedSecretBytes? {
    if let message { return try MailInput.message(message, coffer, context) }
    guard let mbox else { return nil }
    guard let number = Int(file), number > 0 else { throw Failure.usage("--mbox wants the number of a mail") }
    return try MailInput.mail(number, inMbox: mbox)
  }

  // MARK: Detached

  private func verifyBinary(
    _ source: SpooledSource, _ input: LetterInput, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext
  ) throws {
    // A message in the old style begins with a signature too, but does not end with one.
    if let list = try? SignatureList(reading: source),
      !list.signatures.isEmpty || InputKind(source) == .signed
    {
      return try verifyBeside(source, judge, palette, context)
    }
    try verifyMessage(source, input, judge, palette, context)
  }

  /// Finds the file that a signature belongs to.
  private func verifyBeside(
    _ source: SpooledSource, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext
  ) throws {
    guard let document = LetterNames.stripped(file), CommandSurroundings.current.files.exists(document) else {
      throw Failure.usage(
        "this is a signature, and the file that it belongs to is not beside it",
        hint: "coffer verify --signature \(ShellWord.quoted(file)) FILE")
    }
    try verify(try signatures(in: source), of: document, judge, palette, context)
  }

  /// The signatures of a file that has no other packets.
  private func signatures(in source: SpooledSource) throws -> SignatureList {
    let list: SignatureList
    do throws(OpenPGPError) {
      try source.rewind(recognising: true)
      list = try SignatureList(reading: OpenPGPInput.packets(source, .allBlocks))
    } catch { throw unreadable(error, source) }
    if list.signatures.isEmpty {
      guard InputKind(source) == .signed else { throw notSigned(.malformed(.signature)) }
      guard list.unreadableCount > 0 else { throw unreadable(.malformed(.armor), source) }
    }
    return list
  }

  /// The failure of what should be a signature, or signed.
  private func unreadable(_ error: OpenPGPError, _ source: SpooledSource) -> Failure {
    // Armor that says what it is, and breaks off.
    guard error == .malformed(.armor), InputKind(source) == .signed else { return notSigned(error) }
    return Failure(
      .corrupt, "signature_invalid",
      "the signature is damaged or cut off, and cannot be read: nothing is known about who signed",
      hint: "get it again from where it came")
  }

  private func verify(
    _ list: SignatureList, of path: String, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext
  ) throws {
    let input = try LetterInput(path)
    let source = WatchedSource(
      FileDescriptorSource(descriptor: input.descriptor), title: "hashing", total: input.byteCount, context)
    let verifications = try context.interruptibly(input) {
      defer { source.finish() }
      do throws(OpenPGPError) {
        return try DetachedVerification(judge.verifier).verify(list.signatures, over: source)
      } catch {
        throw Failure(openPGP: error, writing: path)
      }
    }
    let name = path == "-" ? "standard input" : (path as NSString).lastPathComponent
    let verdict = judge.verdict(verifications, unreadable: list.unreadableCount, isEncrypted: false)
    if !context.isJSON, failure(verdict, name) == nil {
      let words: ShownLine = "\(name): \(VerdictWords.sentence(verdict))"
      Terminal.remark(palette.paint(words, VerdictWords.tone(verdict)))
      for note in VerdictWords.notes(verdict, isDetailed: false) { Terminal.remark("\(note)") }
    }
    try answer(verdict, name, nil, context)
  }

  // MARK: Messages

  private func verify(
    _ message: CleartextMessage, _ input: LetterInput, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext
  ) throws {
    try release(
      input, unreadable: message.unreadableSignatureCount, judge, palette, context
    ) { (sink, allow) throws(OpenPGPError) in
      var isAllowed = false
      let found = try message.verify(with: judge.verifier, writingTo: sink) {
        isAllowed = allow($0, message.unreadableSignatureCount)
        return isAllowed
      }
      // The last line end is not signed (RFC 9580, section 7.1), but a text ends with one.
      if isAllowed { try sink.write([UInt8(ascii: "\n")]) }
      return found
    }
  }

  private func verifyMessage(
    _ source: SpooledSource, _ input: LetterInput, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext
  ) throws {
    try checkBeside(isText: false, context) { (content) throws(OpenPGPError) in
      try source.rewind(recognising: true)
      _ = try InlineMessageReader(verifier: judge.verifier).read(from: source, to: content) { _ in true }
    }
    try release(input, judge, palette, context) { (sink, allow) throws(OpenPGPError) in
      try source.rewind(recognising: true)
      let reader = InlineMessageReader(verifier: judge.verifier)
      return try reader.read(from: source, to: sink) {
        allow($0.verifications, $0.unreadableSignatureCount)
      }.verifications
    }
  }

  /// Shows or writes the content if its signature is good, and answers.
  /// - Parameters:
  ///   - unreadable: how many signatures cannot be read, if that is known beforehand.
  ///   - read: asks whether the content may come out, with the signatures and how many cannot be read.
  private func release(
    _ input: LetterInput, unreadable: Int = 0, _ judge: SignatureJudge, _ palette: Palette,
    _ context: CommandContext,
    _ read: (any ByteSink, ([SignatureVerification], Int) -> Bool) throws(OpenPGPError) ->
      [SignatureVerification]
  ) throws {
    let name = input.isStandardInput ? "standard input" : (input.path as NSString).lastPathComponent
    // With --json the verdict is the answer; the content is written only where it is asked for.
    let target =
      context.isJSON && output == nil ? nil : try DecryptedOutput(output, input, context)
    var verdict: Verdict?
    do throws(OpenPGPError) {
      let found = try read(target ?? DroppingSink()) { verifications, unreadable in
        let judged = judge.verdict(verifications, unreadable: unreadable, isEncrypted: false)
        verdict = judged
        guard failure(judged, name) == nil else { return false }
        if !context.isJSON {
          target?.tell("\(name): \(VerdictWords.sentence(judged))", judged, palette)
        }
        return true
      }
      // The cleartext framework asks only if one is good.
      if verdict == nil { verdict = judge.verdict(found, unreadable: unreadable, isEncrypted: false) }
    } catch {
      if case .inputOutput = error { throw Failure(openPGP: error, writing: output ?? input.path) }
      throw notSigned(error)
    }
    guard let verdict else { throw Failure(unsorted: "Verdict") }
    if failure(verdict, name) == nil { try target?.finish(endingWith: "all of it signed") }
    try answer(verdict, name, target?.path, context)
  }

  // MARK: Answering

  private func failure(_ verdict: Verdict, _ name: String) -> Failure? {
    VerdictWords.failure(verdict, wantsVerified: require == .verified, name)
  }

  /// The answer for programs, and the end of the command. People have been told.
  private func answer(
    _ verdict: Verdict, _ name: String, _ output: String?, _ context: CommandContext
  ) throws {
    let failure = failure(verdict, name)
    if context.isJSON {
      JSON.print(
        Answer(
          file: name, output: failure == nil ? output : nil, grade: verdict.grade.rawValue,
          notes: verdict.notes.map(\.code), signatures: verdict.findings.map { .init($0) }))
    }
    if let failure { throw failure }
  }

  private func notSigned(_ error: OpenPGPError) -> Failure {
    if case .inputOutput = error { return Failure(openPGP: error, writing: file) }
    let beside = [".asc", ".sig"].map { file + $0 }.first { CommandSurroundings.current.files.exists($0) }
    if file != "-", let beside {
      return Failure(
        .refused, "malformed", "this is not a signature; one is beside it",
        hint: "coffer verify \(ShellWord.quoted(beside))")
    }
    return Failure(
      .refused, "malformed", "this is not a signature or a signed message that can be read",
      hint: "if it is encrypted: 'coffer decrypt FILE'")
  }
}

/// Takes everything and keeps nothing.
private final class DroppingSink: ByteSink {
  func write(_ bytes: RawSpan) {}
}
