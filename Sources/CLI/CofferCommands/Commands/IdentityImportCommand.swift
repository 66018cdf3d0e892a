// SPDX-License-Identifier: Apache-2.0
//
// Private keys of another program, or from a backup. What is in the file is shown first; its passphrase is asked for
// before that of the coffer, and nothing is written before all of it is open.

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import Glibc
internal import Identities
internal import KeyCustody
internal import MessageFormats
internal import Secrets
internal import UserAuthentication

struct IdentityImportCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Take private keys from a file.")
  static let page = """
    coffer identity import: take private keys from a file, such as a backup or an export of GnuPG

    usage: coffer identity import [FILE|-] [--all | --key FINGERPRINT] [--without-primary]
               \(KeyPassphraseOptions.usage)
               \(OpeningOptions.usage)

    Reads FILE, or standard input, and shows what is in it. Of keys that are here already, what is new is
    taken: another end, a revocation, a new part; one that cannot be opened any more is replaced. Seals the
    others, all or none, and makes a revocation certificate for each. The file stays as it is.

      --all              take all that are not here yet
      --key FINGERPRINT  take this one
      --without-primary  take a key of which only the parts for daily use are in the file: it can read and
                         sign, and never be changed or revoked here

    example: coffer identity import ada-backup.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var keyPassphrase: KeyPassphraseOptions
  @Flag(help: "Take all that are not here yet.") var all = false
  @Option(help: "Take the key with this fingerprint.") var key: String?
  @Flag(help: "Take a key without its primary part.") var withoutPrimary = false
  @Argument(help: "A file; - for standard input.", completion: .file()) var file = "-"

  func validate() throws {
    if all, key != nil { throw ValidationError("give --all or --key, not both") }
  }

  struct Answer: Encodable {
    struct Skipped: Encodable {
      let fingerprint: String
      let reason: String
    }
    let imported: [String]
    let updated: [String]
    let skipped: [Skipped]
  }

  /// A key of the file, beside what is here.
  private struct Found {
    enum Presence { case absent, present, lost }

    let key: KeyFile.Key
    /// Whether custody has the key; a lost one cannot be opened any more.
    let presence: Presence
    /// What the file says beyond an identity that is here.
    var known: OwnKeyNews?
    /// Whether the file has a private part that is not here, though the key is.
    var hasNewParts = false

    /// Whether the key itself is opened and sealed.
    var isSealed: Bool { presence == .present ? hasNewParts : key.hasAnyPart }
    /// Whether there is anything to take.
    var isWanted: Bool { isSealed || known?.isNew == true }
  }

  func execute(_ context: CommandContext) throws {
    context.remarkTyping(file, "the private key")
    let bytes = SharedSecretBytes(
      try InputFile.read(
        file, byteCountLimit: KeyFile.byteCountLimit, tooLong: IdentityError.notAPrivateKey))
    let found = try KeyFile(bytes, at: Int64(Date().timeIntervalSince1970)).keys
    let coffer = try context.open(opening)
    let all = try Self.beside(found, coffer, context)
    tell(all, context)
    let (wanted, skipped) = try choose(all, context)
    guard !wanted.isEmpty else {
      context.remark("There is nothing to take.")
      return context.isJSON ? JSON.print(Answer(imported: [], updated: [], skipped: skipped)) : ()
    }
    let chosen = wanted.filter(\.isSealed).map(\.key)
    let new = wanted.filter { $0.presence != .present }.map(\.key)
    let answer = Answer(
      imported: new.map(\.fingerprint),
      updated: wanted.filter { $0.presence == .present }.map(\.key.fingerprint), skipped: skipped)
    guard withoutPrimary || new.allSatisfy(\.hasPrimaryKey) else {
      throw Failure(
        .refused, "primary_missing",
        "this file has only the parts for daily use: nothing could be changed or revoked with it",
        hint: "import the file that has everything, or add --without-primary")
    }
    for found in wanted where !found.isSealed { try found.known?.take(coffer) }
    guard !chosen.isEmpty else {
      context.remark("Taken over.")
      return context.isJSON ? JSON.print(answer) : ()
    }
    for key in chosen { try key.checkMemory() }
    let opened = try unlock(chosen, context)
    let parts = try context.privateParts(
      coffer, opening, "to import \(chosen.count.counted("private key"))", sealing: true)
    try parts.coffer.importIdentities(opened, parts.coffer.openIdentities(), parts.authorization)
    if context.isJSON { return JSON.print(answer) }
    context.remark("Sealed, and opened once to be sure.")
    if new.contains(where: \.hasPrimaryKey) { context.remark("A revocation certificate is kept.") }
    context.remark("The file is still there: keep it as your backup, or destroy it.")
    for key in chosen { Terminal.print("\(key.fingerprint)") }
  }

  /// The keys of a file beside the identities. Of a key that opens and no identity lists, nothing is taken.
  private static func beside(
    _ keys: [KeyFile.Key], _ coffer: Coffer, _ context: CommandContext
  ) throws -> [Found] {
    let (open, identities) = try context.identities(coffer, asking: true)
    let kept = try open.store.keptFingerprints()
    let lost = Set(
      open.unlisted.lost.map(\.fingerprint)
        + identities.filter { $0.place?.isLost == true }.map(\.fingerprint))
    return keys.map { key in
      guard kept.contains(key.fingerprint) else {
        return Found(key: key, presence: lost.contains(key.fingerprint) ? .lost : .absent)
      }
      var found = Found(key: key, presence: .present)
      if let identity = identities.first(where: { $0.fingerprint == key.fingerprint }) {
        let (news, hasNewParts) = identity.news(in: key)
        found.known = OwnKeyNews(identity, news, coffer)
        found.hasNewParts = hasNewParts
      }
      return found
    }
  }

  private func tell(_ all: [Found], _ context: CommandContext) {
    context.remark("\(all.count.counted("private key")) in this file:")
    for (index, found) in all.enumerated() {
      let key = found.key
      let name = ContactWords.quoted(key.userIDs.first?.text ?? key.fingerprint)
      let end = key.expires.map { "expires \(IdentityView.day($0))" } ?? "never expires"
      context.remark("  \(index + 1)  \(name)")
      context.remark("     made \(IdentityView.day(key.created)), \(key.algorithm), \(end)")
      context.remark("     \(key.fingerprint)")
      for remark in Self.remarks(found) {
        context.remark("     \(remark)")
      }
      if found.presence == .lost {
        context.remark("     here, and cannot be opened any more: this takes its place")
      }
    }
  }

  private static func remarks(_ found: Found) -> [String] {
    let key = found.key
    if found.presence == .present {
      let missing = [found.known?.missing].compactMap(\.self)
      guard found.isWanted else { return ["already here: left out"] + missing }
      return ["already here; new in this file:"] + (found.known?.lines ?? []).map { "  \($0)" }
        + (found.hasNewParts ? ["  a private part that is not here"] : missing)
    }
    guard key.hasAnyPart else { return ["on a card or elsewhere, not in this file: left out"] }
    var remarks: [String] = []
    if !key.isProtected { remarks.append("this file does not protect it with any passphrase") }
    if key.absentPartCount > 0 {
      remarks.append("\(key.absentPartCount.counted("part")) on a card or elsewhere, not in this file")
    }
    switch key.state {
    case .good: break
    case .expired: remarks.append("it has expired: it reads old messages, until you move its end")
    case .revoked: remarks.append("it is revoked: it reads old messages")
    case .unusable: remarks.append("too weak for anything new: it reads old messages")
    }
    return remarks
  }

  // MARK: Choosing

  private func choose(
    _ all: [Found], _ context: CommandContext
  ) throws -> (chosen: [Found], skipped: [Answer.Skipped]) {
    let candidates = all.filter(\.isWanted)
    var skipped = all.filter { !$0.isWanted }.map {
      Answer.Skipped(
        fingerprint: $0.key.fingerprint, reason: $0.presence == .present ? "already_here" : "elsewhere")
    }
    let chosen = try pick(candidates, all, context)
    let names = Set(chosen.map(\.key.fingerprint))
    for found in candidates where !names.contains(found.key.fingerprint) {
      skipped.append(Answer.Skipped(fingerprint: found.key.fingerprint, reason: "not_chosen"))
    }
    return (chosen, skipped)
  }

  private func pick(_ candidates: [Found], _ found: [Found], _ context: CommandContext) throws -> [Found] {
    if all { return candidates }
    if let key {
      let wanted = key.lowercased().filter { !$0.isWhitespace && $0 != ":" }
      guard found.contains(where: { $0.key.fingerprint == wanted }) else {
        throw Failure(.missing, "not_found", "no private key in this file has that fingerprint")
      }
      return candidates.filter { $0.key.fingerprint == wanted }
    }
    if !context.isJSON, Terminal.isErrorTerminal, context.hasTerminal {
      return try candidates.filter { candidate in
        let key = candidate.key
        let name = ContactWords.quoted(key.userIDs.first?.text ?? key.fingerprint)
        return try context.confirm(
          candidate.presence == .present ? "Take what is new of \(name)?" : "Take \(name)?")
      }
    }
    guard candidates.count < 2 else {
      throw Failure(
        .refused, "several_keys", "this file has \(candidates.count.counted("private key")) to take",
        hint: "add --all, or --key with a fingerprint")
    }
    return candidates
  }

  // MARK: Opening

  private func unlock(_ keys: [KeyFile.Key], _ context: CommandContext) throws -> [OpenedKey] {
    var passphrases: [SharedSecretBytes] = []
    let isGiven: Bool
    if let given = try keyPassphrase.given() {
      passphrases = [SharedSecretBytes(given)]
      isGiven = true
    } else {
      isGiven = false
    }
    return try keys.map { key in
      do { return try key.opened(passphrases) } catch IdentityError.wrongPassphrase where !isGiven {
        return try ask(for: key, &passphrases, context)
      }
    }
  }

  /// Asks for the passphrase of a key, three times at most.
  private func ask(
    for key: KeyFile.Key, _ passphrases: inout [SharedSecretBytes], _ context: CommandContext
  ) throws -> OpenedKey {
    let prompt = try context.prompt(
      for: "the passphrase of the file",
      hint: "use --key-passphrase-fd, --key-passphrase-file, or COFFER_PINENTRY")
    let name = ContactWords.quoted(key.userIDs.first?.text ?? key.fingerprint)
    var problem: String?
    for attempt in 1...CommandContext.promptTries {
      let typed = try prompt.ask(PromptRequest("passphrase of the file, for \(name)", problem: problem))
      // As it was typed, and as our own backups have it: normalised.
      var tried = [SharedSecretBytes(typed.duplicate())]
      if let normal = try? Passphrase(utf8: typed) { tried.append(SharedSecretBytes(normal)) }
      do {
        let opened = try key.opened(tried)
        passphrases += tried
        return opened
      } catch IdentityError.wrongPassphrase {
        problem = CommandContext.triesLeft("wrong passphrase", attempt)
      }
    }
    throw IdentityError.wrongPassphrase
  }
}
