// SPDX-License-Identifier: Apache-2.0
//
// What every command does that opens a message: whom it is for is read before anybody is asked, and the private part is
// asked for once.

internal import CofferKit
internal import Correspondence
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Secrets
internal import UserAuthentication

/// The opening of one message.
struct LetterOpening {
  /// The input as it was named.
  let file: String
  let options: OpeningOptions

  /// Whom a message is for; the source is at its beginning again.
  func plan(_ source: any RewindableSource, _ book: AddressBook) throws -> ReadingPlan {
    let recipients: MessageRecipients
    do throws(OpenPGPError) {
      recipients = try MessageRecipients(reading: source)
      try source.rewind(recognising: true)
    } catch .malformed, .overLimit(.armorLine) {
      throw Failure(notEncrypted: InputKind(source), file == "-" ? "this" : "'\(file)'")
    } catch {
      throw Failure(openPGP: error, writing: file)
    }
    return ReadingPlan(recipients, book.identities)
  }

  /// Asks for what opens the message.
  func reading(
    _ plan: ReadingPlan, _ book: AddressBook, _ coffer: Coffer, _ context: CommandContext
  ) throws -> (LetterReading, PrivatePartAsked) {
    let asked = PrivatePartAsked(context, coffer, options, purpose: purpose(plan))
    var reading = LetterReading(plan: plan, judge: SignatureJudge(book))
    if plan.named.isEmpty, plan.hasPassword {
      reading.passwords = [try context.messagePassword()]
    } else {
      try confirmHidden(plan, context)
      try asked.ask()
    }
    return (reading, asked)
  }

  private func purpose(_ plan: ReadingPlan) -> String {
    let names = plan.identities.map { IdentityView($0).title }
    return "to read a message for \(LetterWords.list(names))"
  }

  /// Each identity that is tried costs an opening of its private part.
  private func confirmHidden(_ plan: ReadingPlan, _ context: CommandContext) throws {
    let count = plan.identities.count
    guard plan.named.isEmpty, count > 1, context.hasTerminal else { return }
    guard try context.confirm("This message hides its readers. Try your \(count) identities?") else {
      throw Failure(.refused, "cancelled", "nothing was opened")
    }
  }

  // MARK: Mail

  /// A mail that was decrypted.
  struct Mail {
    let content: MailContent
    let read: LetterReading.Result
    let plan: ReadingPlan
    let book: AddressBook
    let asked: PrivatePartAsked
  }

  /// Decrypts the message at the top of a mail.
  /// - Parameters:
  ///   - message: from `MailLetter.ciphertext`, with the text around it.
  ///   - check: is called once it is clear for whom it is, before anybody is asked.
  func mail(
    _ message: SharedSecretBytes, of letter: MailLetter, others: [SharedSecretBytes], isText: Bool,
    opensParts: Bool = false, _ coffer: Coffer, _ context: CommandContext,
    checking check: () throws -> Void = {}
  ) throws -> Mail {
    let source = MemorySource(message)
    let book = try coffer.addressBook()
    let plan = try plan(source, book)
    guard !plan.isForNobodyHere else { throw Failure(notForYou: plan, book) }
    try check()
    let (reading, asked) = try reading(plan, book, coffer, context)
    let sink = MailSink()
    let read: LetterReading.Result
    do { read = try reading.read(source, to: sink, asked.lender) { _ in } } catch {
      throw sink.isTooLong ? MailError.tooLarge : error
    }
    asked.coffer.note(.decrypted)
    let content = try MailContent(
      decrypted: sink.finish(), of: letter, isText: isText, others: others, read.message.verifications,
      unreadable: read.message.unreadableSignatureCount, reader: read.identity, reading.judge,
      opensParts: opensParts)
    return Mail(content: content, read: read, plan: plan, book: book, asked: asked)
  }
}

extension CommandContext {
  /// The password of a message.
  fileprivate func messagePassword() throws -> SharedSecretBytes {
    let prompt = try prompt(for: "the password of the message", hint: "use COFFER_PINENTRY")
    let typed = try prompt.ask(PromptRequest("password of the message"))
    return SharedSecretBytes(try Passphrase(utf8: typed))
  }
}
