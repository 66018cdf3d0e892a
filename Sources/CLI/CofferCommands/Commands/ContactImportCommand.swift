// SPDX-License-Identifier: Apache-2.0
//
// Storing public parts: a preview, a question where there is a terminal, and what is decided by options elsewhere.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Correspondence
internal import Foundation
internal import Glibc
internal import Identities
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets
internal import UserAuthentication

struct ContactImportCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store public parts.")
  static let page = """
    coffer contact import: store the public parts of other people's keys

    usage: coffer contact import [FILE|URL|-] [--name NAME] [--all] [--yes] [--accept-changes]
                                 [--replace FINGERPRINT | --separate | --ignore]
                                 \(OpeningOptions.usage)

    Reads FILE, or standard input; it may also be a picture (PNG or JPEG) with a QR code of one. A URL
    cypherair://import/v1/... may be in it, or given instead. What came as an argument is never stored
    without a question. FILE may be a mail, decrypted if it is encrypted: its files of type
    application/pgp-keys count, and its only Autocrypt header if it is for the sender.

    Shows whose public part it is, and asks on a terminal. A newer copy of a stored one adds what it says.
    Another key for an address that a contact has waits until you decide; until then nothing is encrypted to
    either. What others have added to a public part is not stored. A file with a private key is refused. Your
    own identity does not become a contact, but learns what you have said with another program.

      --name            a name of yours for a new contact
      --all             store all public parts of the file
      --yes             ask nothing
      --accept-changes  store changes that take something away, and keys that claim an address of yours
      --replace         use the new key from now on, instead of the key with this fingerprint
      --separate        the new key is somebody else's: store another contact
      --ignore          forget the new key

    example: coffer contact import bob.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "A name of yours for a new contact.") var name: String?
  @Flag(help: "Store all public parts of the file.") var all = false
  @Flag(help: "Ask nothing.") var yes = false
  @Flag(help: "Store changes that take something away.") var acceptChanges = false
  @Option(help: "Use the new key instead of the key with this fingerprint.") var replace: String?
  @Flag(help: "Store another contact.") var separate = false
  @Flag(help: "Forget the new key.") var ignore = false
  @Argument(help: "A file or a URL; - for standard input.", completion: .file()) var file = "-"

  func validate() throws {
    if [replace != nil, separate, ignore].filter(\.self).count > 1 {
      throw ValidationError("give one of --replace, --separate and --ignore")
    }
    if let replace, FingerprintText.fingerprint(replace) == nil {
      throw ValidationError("--replace wants all 40 or 64 characters of a fingerprint")
    }
  }

  struct Answer: Encodable {
    struct Result: Encodable {
      let fingerprint: String
      let outcome: String
      let changes: [String]
      let contact: String?
    }
    let results: [Result]
  }

  /// What becomes of one certificate.
  private struct Outcome {
    let code: String
    /// Nil when nothing is stored.
    var decision: NewKeyDecision?
    /// Said when it is stored; the contact's name goes before it.
    var done = ""
    var failure: Failure?
  }

  func execute(_ context: CommandContext) throws {
    context.remarkTyping(file, "the public part, or its URL")
    let input = try named { try PublicPartInput.read(file, isURL: isURL) }
    if isURL, !context.hasTerminal {
      throw Failure(
        .refused, "not_confirmed",
        "a URL as an argument is stored after a question, and there is no terminal",
        hint: "'coffer contact import' reads it from standard input")
    }
    let opened = try context.open(opening)
    let (found, coffer) = try named { try self.parts(input, opened, context) }
    let (parts, own) = try withoutOwn(found, coffer, context)
    if name != nil, parts.count > 1 {
      throw Failure.usage("--name is for a file with one public part; this one has \(parts.count)")
    }
    try update(own, coffer, context)
    let ownAddresses = Set(
      try coffer.addressBook().identities.flatMap { $0.userIDs.compactMap(\.address) }.map { $0.lowercased() }
    )
    let previews = try coffer.contacts().preview(parts, at: coffer.openPGPTime) {
      decision($0, claiming: claimed(by: $0, of: ownAddresses))
    }
    try check(previews)
    try agree(previews, context)
    let outcomes = try previews.map { preview in
      try outcome(
        preview, claiming: claimed(by: preview, of: ownAddresses), isSingle: parts.count == 1, coffer, context
      )
    }
    let ids = try store(parts, previews, outcomes, isPicture: input.isPicture, coffer, context)
    if context.isJSON {
      let results = zip(previews, zip(outcomes, ids)).map { preview, stored in
        Answer.Result(
          fingerprint: FingerprintText.plain(preview.key.fingerprint), outcome: stored.0.code,
          changes: preview.changes.map(ContactWords.code), contact: stored.1?.uuidString.lowercased())
      }
      let left = own.map {
        Answer.Result(
          fingerprint: $0.identity.fingerprint, outcome: $0.isNew ? "own_updated" : "own",
          changes: $0.changes.map(ContactWords.code), contact: nil)
      }
      JSON.print(Answer(results: results + left))
    }
    if let failure = outcomes.lazy.compactMap(\.failure).first { throw failure }
  }

  /// What was read; a mail that is encrypted is decrypted as 'coffer decrypt' does.
  /// - Returns: also the coffer as it was opened last.
  private func parts(
    _ input: PublicPartInput, _ coffer: Coffer, _ context: CommandContext
  ) throws -> (PublicParts, Coffer) {
    guard case .mail(let bytes) = input else { return (try input.parts(coffer), coffer) }
    return try LetterOpening(file: file, options: opening).publicParts(bytes, coffer, context)
  }

  /// Leaves out the user's own identities, which are no contacts.
  /// - Returns: also what the file says of them.
  /// - Throws: `own_identity` when there is nothing else, and nothing new.
  private func withoutOwn(
    _ parts: PublicParts, _ coffer: Coffer, _ context: CommandContext
  ) throws -> (PublicParts, [OwnKeyNews]) {
    let book = try coffer.addressBook()
    let copies = book.known(parts).certificates
    let own = book.identities.compactMap { identity in
      copies.first { $0.fingerprint == identity.certificate.fingerprint }
        .map { OwnKeyNews(identity, identity.news(in: $0), coffer) }
    }
    guard let first = own.first?.identity else { return (parts, []) }
    let sentences = own.map {
      "this is your own identity '\(IdentityView($0.identity).title)', not a contact"
    }
    guard own.count < copies.count || own.contains(where: \.isNew) else {
      for missing in own.compactMap(\.missing) { context.remark("\(missing)") }
      throw PictureCode.named(
        Failure(
          .refused, "own_identity", "\(sentences[0]); nothing was stored",
          hint: "messages to yourself: --to me; its state: coffer identity show \(IdentityView(first).word)"),
        isURL ? "-" : file)
    }
    for (sentence, news) in zip(sentences, own) where !news.isNew { context.remark("left out: \(sentence)") }
    return (parts.without(Set(own.map(\.identity.certificate.fingerprint))), own)
  }

  /// Takes over what the user has said of an identity elsewhere: it verifies, so nobody else can have said it.
  private func update(_ own: [OwnKeyNews], _ coffer: Coffer, _ context: CommandContext) throws {
    for news in own {
      if news.isNew {
        context.remark("Your own identity '\(IdentityView(news.identity).title)' changes:")
        for line in news.lines { context.remark("  \(line)") }
        if isURL, !(try context.confirm("Store these changes?")) {
          throw Failure(.refused, "cancelled", "nothing was stored")
        }
        try news.take(coffer)
      }
      if let missing = news.missing { context.remark("  \(missing)") }
    }
  }

  /// Stores what was decided, in one step, and says so.
  /// - Returns: the contact of each certificate; nil where there is none.
  private func store(
    _ parts: PublicParts, _ previews: [ContactPreview], _ outcomes: [Outcome], isPicture: Bool,
    _ coffer: Coffer, _ context: CommandContext
  ) throws -> [UUID?] {
    guard outcomes.contains(where: { $0.decision != nil }) else { return previews.map { $0.contact?.id } }
    let stored = try coffer.storeContacts(
      parts, as: previews, name: name, decisions: outcomes.map(\.decision))
    let names = try coffer.contacts().list(at: coffer.openPGPTime).map { ($0.id, $0.name) }
    let nameOfID = Dictionary(uniqueKeysWithValues: names)
    for (id, outcome) in zip(stored, outcomes) where outcome.decision != nil {
      let name = id.flatMap { nameOfID[$0] }
      if outcome.code == "new", let name {
        context.remark("stored as \(ContactWords.quoted(name)). Not verified yet.")
        let word = ShellWord.quoted(name)
        context.nextSteps(coffer, "When you speak: coffer contact verify \(word)")
        if isPicture {
          context.nextSteps(
            coffer, "When you meet: coffer contact verify \(word) --qr PICTURE, with one that you take there")
        }
      } else {
        context.remark("\(name.map { ContactWords.quoted($0) + ": " } ?? "")\(outcome.done)")
      }
    }
    return zip(stored, zip(previews, outcomes)).map { id, rest in
      id ?? (rest.1.decision == nil ? rest.0.contact?.id : nil)
    }
  }

  /// What the options say about a certificate; nil when it is left as it is.
  private func decision(_ preview: ContactPreview, claiming own: [String] = []) -> NewKeyDecision? {
    switch preview.outcome {
    case .new: return own.isEmpty || acceptChanges ? .keep : nil
    case .unchanged: return nil
    case .updated: return (preview.needsDecision || !own.isEmpty) && !acceptChanges ? nil : .keep
    case .newKey:
      let replaced = replace.flatMap(FingerprintText.fingerprint)
      if let replaced, replaced == preview.contact?.keyInUse?.summary.fingerprint { return .use }
      return separate ? .separate : ignore ? .ignore : .keep
    }
  }

  /// The addresses of the user's identities that a key claims from now on. Whoever writes to one would have to choose
  /// between the identity and a stranger with its name.
  private func claimed(by preview: ContactPreview, of own: Set<String>) -> [String] {
    let stored = preview.contact?.keys.first { $0.summary.fingerprint == preview.key.fingerprint }
    let before = Set((stored?.summary.addresses ?? []).map { $0.lowercased() })
    return preview.key.addresses.filter {
      own.contains($0.lowercased()) && !before.contains($0.lowercased())
    }
  }

  /// What is wrong with the file is said with its name.
  private func named<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as ContactError {
      var failure = Failure(error)
      if error == .unknown { failure.message = "this revokes a key that no contact has" }
      if file != "-", !isURL { failure.message = "'\(file)': \(failure.message)" }
      throw failure
    }
  }

  /// Whether the argument is a URL and not the name of a file. A page in a browser may have brought it here.
  private var isURL: Bool { PublicPartInput.isURL(file) }

  /// Whether there is somebody to ask.
  private func asks(_ context: CommandContext) -> Bool {
    isURL || !yes && !context.isJSON && Terminal.isErrorTerminal && context.hasTerminal
  }

  /// - Throws: an error of usage when an option does not fit what the file has.
  private func check(_ previews: [ContactPreview]) throws {
    if let replaced = replace.flatMap(FingerprintText.fingerprint) {
      let isFound = previews.contains { preview in
        preview.outcome == .newKey && preview.contact?.keyInUse?.summary.fingerprint == replaced
      }
      if !isFound {
        throw Failure.usage("no contact uses the key of --replace for an address of the new one")
      }
    }
    if let name, let contact = previews.first?.contact, !separate {
      throw Failure.usage(
        "--name is for a new contact, and you have \(ContactWords.quoted(contact.name))",
        hint: "coffer contact rename \(ShellWord.quoted(contact.name)) \(ShellWord.quoted(name))")
    }
  }

  /// Shows several certificates, and asks once for all.
  private func agree(_ previews: [ContactPreview], _ context: CommandContext) throws {
    guard previews.count > 1, !all, !yes else { return }
    for preview in previews {
      context.remark("  \(ContactWords.quoted(preview.key.userIDs.first ?? preview.key.suggestedName))")
    }
    let count = previews.count.counted("public part")
    guard asks(context) else {
      throw Failure(
        .refused, "several_certificates", "this file has \(count)", hint: "add --all to store them all")
    }
    guard try context.confirm("Store all \(count)?") else {
      throw Failure(.refused, "cancelled", "nothing was stored")
    }
  }

  private func outcome(
    _ preview: ContactPreview, claiming own: [String], isSingle: Bool, _ coffer: Coffer,
    _ context: CommandContext
  ) throws -> Outcome {
    let asks = asks(context) && isSingle
    switch preview.outcome {
    case .new:
      for line in ContactWords.lines(of: preview.key) { context.remark("  \(line)") }
      let name = try self.name ?? coffer.contacts().suggestedName(for: preview.key)
      tell(own: own, context)
      guard own.isEmpty || acceptChanges || asks else {
        return Outcome(
          code: "refused",
          failure: Failure(
            .refused, "change_needs_decision",
            "the public part of \(ContactWords.quoted(name)) claims an address of yours, \(own[0])",
            hint: "if it is a key of your own, add --accept-changes"))
      }
      if asks, !(try context.confirm("Store as \(ContactWords.quoted(name))?")) {
        throw Failure(.refused, "cancelled", "nothing was stored")
      }
      return Outcome(code: "new", decision: .keep)
    case .unchanged:
      context.remark("\(ContactWords.quoted(preview.contact?.name ?? "")): nothing new")
      return Outcome(code: "unchanged")
    case .updated: return try update(preview, claiming: own, asks, context)
    case .newKey: return try decide(preview, asks, context)
    }
  }

  private func update(
    _ preview: ContactPreview, claiming own: [String], _ asks: Bool, _ context: CommandContext
  ) throws -> Outcome {
    let name = ContactWords.quoted(preview.contact?.name ?? "")
    context.remark("\(name) changes:")
    for change in preview.changes { context.remark("  \(ContactWords.words(change))") }
    tell(preview.sharedAddresses, context)
    tell(own: own, context)
    if isURL || (preview.needsDecision || !own.isEmpty) && !acceptChanges {
      guard asks else {
        return Outcome(code: "refused", failure: Self.needsDecision(name))
      }
      guard try context.confirm("Store these changes?") else {
        throw Failure(.refused, "cancelled", "nothing was stored")
      }
    }
    return Outcome(code: "updated", decision: .keep, done: "updated")
  }

  private static func needsDecision(_ name: String) -> Failure {
    Failure(
      .refused, "change_needs_decision",
      "the public part of \(name) has changed in a way that you should see",
      hint: "ask its owner, then add --accept-changes")
  }

  private func tell(own: [String], _ context: CommandContext) {
    for address in own { context.remark("  it claims \(address), which is an address of your own") }
  }

  /// Whoever writes to such an address would have to choose between two keys.
  private func tell(_ shared: [SharedAddress], _ context: CommandContext) {
    for claim in shared {
      context.remark(
        "  it claims \(claim.address), which is the address of \(ContactWords.quoted(claim.contact)) too")
    }
  }

  private func decide(_ preview: ContactPreview, _ asks: Bool, _ context: CommandContext) throws -> Outcome {
    guard let contact = preview.contact, let present = decision(preview) else { throw ContactError.unknown }
    tell(preview, contact, context)
    tell(preview.sharedAddresses, context)
    guard preview.sharedAddresses.isEmpty || acceptChanges || asks || present == .keep || present == .ignore
    else { return Outcome(code: "refused", failure: Self.needsDecision(ContactWords.quoted(contact.name))) }
    let isDecided = present != .keep
    let decision = !isDecided && asks ? try choice(context) : present
    var outcome = Outcome(code: "new_key", decision: decision)
    switch decision {
    case .keep:
      outcome.done = "the new key waits, and nothing is encrypted to either until you decide"
      guard !asks else { break }
      let fingerprints = [contact.keyInUse?.summary.fingerprint, preview.key.fingerprint]
        .compactMap(\.self).map(FingerprintText.plain)
      outcome.failure = Failure(
        .refused, "key_change_pending",
        "\(ContactWords.quoted(contact.name)) has the key \(fingerprints.joined(separator: " in use, and a new one waits: "))",
        hint: "ask its owner, then import it again with --replace \(fingerprints[0]), --separate or --ignore")
    case .use: outcome.done = "the new key is used from now on, and not verified"
    case .separate: outcome.done = "stored as another contact. Not verified yet."
    case .ignore: outcome.done = "the new key is forgotten"
    }
    return outcome
  }

  private func tell(_ preview: ContactPreview, _ contact: ContactEntry, _ context: CommandContext) {
    context.remark("You have \(ContactWords.quoted(contact.name)) with another key:")
    if let key = contact.keyInUse?.summary {
      context.remark("  in use, \(ContactWords.verification(contact)):")
      for line in ContactWords.lines(of: key) { context.remark("    \(line)") }
    }
    context.remark(
      "  new; \(preview.isVouchedFor ? "the old key vouches for it" : "the old key says nothing about it"):")
    for line in ContactWords.lines(of: preview.key) { context.remark("    \(line)") }
    context.remark(
      "A changed key is ordinary after a lost machine, and it is also what an attack looks like. Ask its owner."
    )
  }

  private func choice(_ context: CommandContext) throws -> NewKeyDecision {
    context.remark("  1  decide later; until then nothing is encrypted to either")
    context.remark("  2  use the new one from now on; not verified")
    context.remark("  3  these are two people: store as another contact")
    context.remark("  4  forget the new one")
    var problem: String?
    while true {
      let typed = try context.terminal().ask(PromptRequest("1 to 4 [1]", problem: problem, isShown: true))
      switch typed.withBytes({ String(decoding: [UInt8](copying: $0), as: UTF8.self) }) {
      case "", "1": return .keep
      case "2": return .use
      case "3": return .separate
      case "4": return .ignore
      default: problem = "type a number from 1 to 4"
      }
    }
  }
}
