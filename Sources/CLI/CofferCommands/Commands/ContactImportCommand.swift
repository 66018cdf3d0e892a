// SPDX-License-Identifier: Apache-2.0
//
// Storing public parts: a preview, a question where there is a terminal, and what is decided by options elsewhere.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Foundation
internal import Glibc
internal import MessageFormats
internal import OpenPGP
internal import Primitives
internal import Secrets
internal import UserAuthentication

struct ContactImportCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "import", abstract: "Store public parts.")
  static let page = """
    coffer contact import: store the public parts of other people's keys

    usage: coffer contact import [FILE|-] [--name NAME] [--all] [--yes] [--accept-changes]
                                 [--replace FINGERPRINT | --separate | --ignore]
                                 \(OpeningOptions.usage)

    Reads FILE, or standard input. Shows whose public part it is, and asks on a terminal. A newer copy of a
    stored one adds what it says. Another key for an address that a contact has waits until you decide; until
    then the old one stays in use. What others have added to a public part is not stored. A file with a
    private key is refused.

      --name            a name of yours for a new contact
      --all             store all public parts of the file
      --yes             ask nothing
      --accept-changes  store changes that take something away
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
  @Argument(help: "A file; - for standard input.", completion: .file()) var file = "-"

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

  /// What became of one certificate.
  private struct Outcome {
    var code: String
    var contact: String?
    var failure: Failure?
  }

  func execute(_ context: CommandContext) throws {
    let parts = try PublicParts(SharedSecretBytes(read()))
    if name != nil, parts.count > 1 {
      throw Failure.usage("--name is for a file with one public part; this one has \(parts.count)")
    }
    let coffer = try context.open(opening)
    let previews = try coffer.contacts().preview(parts, at: coffer.openPGPTime)
    try checkReplaced(previews)
    try agree(previews, context)
    var results: [Answer.Result] = []
    var failure: Failure?
    for (index, preview) in previews.enumerated() {
      let outcome = try take(index, parts, preview, coffer, context)
      failure = failure ?? outcome.failure
      results.append(
        Answer.Result(
          fingerprint: FingerprintText.plain(preview.key.fingerprint), outcome: outcome.code,
          changes: preview.changes.map(ContactWords.code), contact: outcome.contact))
    }
    if context.isJSON { JSON.print(Answer(results: results)) }
    if let failure { throw failure }
  }

  private func read() throws -> SecretBytes {
    let limit = Limits.certificateByteCount
    do throws(SecretReadError) {
      if file == "-" { return try SecretBytes.read(fromDescriptor: STDIN_FILENO, byteCountLimit: limit) }
      let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .cannotOpen(errno: errno) }
      defer { close(descriptor) }
      return try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: limit)
    } catch {
      switch error {
      case .tooLong: throw ContactError.certificateTooLarge
      case .cannotOpen(ENOENT): throw Failure(MessageFormatError.notFound, naming: file)
      case .cannotOpen(let code), .readFailed(let code):
        throw Failure(MessageFormatError.cannotRead(errno: code), naming: file)
      }
    }
  }

  /// Whether there is somebody to ask.
  private func asks(_ context: CommandContext) -> Bool {
    !yes && !context.isJSON && Terminal.isErrorTerminal && context.hasTerminal
  }

  private func checkReplaced(_ previews: [ContactPreview]) throws {
    guard let replaced = replace.flatMap(FingerprintText.fingerprint) else { return }
    let isFound = previews.contains { preview in
      preview.outcome == .newKey && preview.contact?.keyInUse?.summary.fingerprint == replaced
    }
    if !isFound { throw Failure.usage("no contact uses the key of --replace for an address of the new one") }
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

  private func take(
    _ index: Int, _ parts: PublicParts, _ preview: ContactPreview, _ coffer: Coffer, _ context: CommandContext
  ) throws -> Outcome {
    let asks = asks(context) && parts.count == 1
    switch preview.outcome {
    case .new:
      for line in ContactWords.lines(of: preview.key) { context.remark("  \(line)") }
      let suggested = try coffer.contacts().suggestedName(for: preview.key)
      let name = ContactWords.quoted(self.name ?? suggested)
      if asks, !(try context.confirm("Store as \(name)?")) {
        throw Failure(.refused, "cancelled", "nothing was stored")
      }
      let id = try coffer.storeContact(index, of: parts, as: preview, name: self.name)
      let words = ShellWord.quoted(self.name ?? suggested)
      context.remark("stored as \(name). Not verified yet: when you speak,  coffer contact verify \(words)")
      return Outcome(code: "new", contact: id?.uuidString.lowercased())
    case .unchanged:
      context.remark("\(ContactWords.quoted(preview.contact?.name ?? "")): nothing new")
      return Outcome(code: "unchanged", contact: preview.contact?.id.uuidString.lowercased())
    case .updated: return try update(index, parts, preview, asks, coffer, context)
    case .newKey: return try decide(index, parts, preview, asks, coffer, context)
    }
  }

  private func update(
    _ index: Int, _ parts: PublicParts, _ preview: ContactPreview, _ asks: Bool, _ coffer: Coffer,
    _ context: CommandContext
  ) throws -> Outcome {
    let name = ContactWords.quoted(preview.contact?.name ?? "")
    let contact = preview.contact?.id.uuidString.lowercased()
    context.remark("\(name): updated")
    for change in preview.changes { context.remark("  \(ContactWords.words(change))") }
    if preview.needsDecision, !acceptChanges {
      guard asks else {
        let failure = Failure(
          .refused, "change_needs_decision",
          "the public part of \(name) has changed in a way that you should see",
          hint: "ask its owner, then add --accept-changes")
        return Outcome(code: "refused", contact: contact, failure: failure)
      }
      guard try context.confirm("Store these changes?") else {
        throw Failure(.refused, "cancelled", "nothing was stored")
      }
    }
    try coffer.storeContact(index, of: parts, as: preview)
    return Outcome(code: "updated", contact: contact)
  }

  private func decide(
    _ index: Int, _ parts: PublicParts, _ preview: ContactPreview, _ asks: Bool, _ coffer: Coffer,
    _ context: CommandContext
  ) throws -> Outcome {
    guard let contact = preview.contact else { throw ContactError.unknown }
    let replaced = replace.flatMap(FingerprintText.fingerprint)
    let inUse = contact.keyInUse?.summary.fingerprint
    tell(preview, contact, context)
    let decision: NewKeyDecision =
      if let replaced, replaced == inUse { .use } else if separate { .separate } else if ignore {
        .ignore
      } else if asks { try choice(context) } else { .keep }
    let id = try coffer.storeContact(index, of: parts, as: preview, name: name, decision: decision)
    var outcome = Outcome(code: "new_key", contact: id?.uuidString.lowercased())
    let name = ContactWords.quoted(contact.name)
    switch decision {
    case .keep:
      guard !asks else {
        context.remark("\(name): the old key stays in use, and the new one waits")
        break
      }
      let fingerprints = [inUse, preview.key.fingerprint].compactMap(\.self).map(FingerprintText.plain)
      outcome.failure = Failure(
        .refused, "key_change_pending",
        "\(name) has the key \(fingerprints.joined(separator: " in use, and a new one waits: "))",
        hint: "ask its owner, then import it again with --replace \(fingerprints[0]), --separate or --ignore")
    case .use: context.remark("\(name): the new key is used from now on, and not verified")
    case .separate: context.remark("stored as another contact. Not verified yet.")
    case .ignore: context.remark("the new key is forgotten")
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
    context.remark("  1  keep the old one; remember the new one as waiting")
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
