// SPDX-License-Identifier: Apache-2.0
//
// Identities: making, choosing the default one, deleting.

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Identities
internal import KeyCustody
internal import Primitives
internal import Secrets
internal import Texts
internal import UserAuthentication

struct IdentityCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "identity", abstract: "Your own OpenPGP keys.",
    subcommands: [
      IdentityGenerateCommand.self, IdentityListCommand.self, IdentityShowCommand.self,
      IdentityExportCommand.self, IdentityQRCommand.self, IdentityBackupCommand.self,
      IdentityImportCommand.self,
      IdentityExpireCommand.self, IdentityReplaceCommand.self, IdentityRevokeCommand.self,
      IdentityAddUserIDCommand.self,
      IdentityRevokeUserIDCommand.self, IdentityAddSubkeyCommand.self, IdentityRevokeSubkeyCommand.self,
      IdentityCertifyCommand.self, IdentityDefaultCommand.self, IdentityDeleteCommand.self,
    ])
  static let page = """
    coffer identity: your own OpenPGP keys, whose private parts are sealed to this machine

    usage: coffer identity generate --user-id TEXT
           coffer identity list
           coffer identity show | export | qr | default | delete WHO
           coffer identity backup WHO FILE
           coffer identity import [FILE]
           coffer identity expire WHO DATE
           coffer identity replace WHO --by NEW
           coffer identity revoke WHO [--export FILE]
           coffer identity add-user-id | revoke-user-id WHO TEXT
           coffer identity add-subkey WHO | revoke-subkey WHO FINGERPRINT
           coffer identity certify CONTACT

    WHO is a fingerprint of 40 or 64 hexadecimal digits, a key ID of 16, an address, a name, the beginnings
    of words of a name, or 'me' for the default identity. If several identities fit, none is taken.

    example: coffer identity generate --user-id 'Ada Lovelace <ada@example.org>'
    """
}

struct IdentityGenerateCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "generate", abstract: "Make an identity.")
  static let page = """
    coffer identity generate: make an identity; its private part is sealed from the first moment

    usage: coffer identity generate --user-id TEXT... [--profile universal|advanced]
                                    [--post-quantum] [--expires never|DATE|Ny | --no-expiry]
                                  \(OpeningOptions.usage)

    Needs the passphrase or PIN, even during a session. Prints the fingerprint.

      --user-id TEXT  your name and mail address; give it again for others of the same identity
      --profile       universal (the default) for everybody, GnuPG included; advanced for version 6 of
                      OpenPGP with Ed448 and X448, which GnuPG cannot read
      --post-quantum  safe against quantum computers (RFC 9980). With universal, messages to you are; GnuPG
                      passes over that part and goes on. With advanced, signatures too: ML-DSA-87 and
                      ML-KEM-1024 beside Ed448 and X448, which few programs read yet
      --expires       never, a date such as 2030-01-31, or years such as 5y; by default 2y
      --no-expiry     the same as --expires never

    example: coffer identity generate --user-id 'Ada Lovelace <ada@example.org>'
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(name: .customLong("user-id"), help: "A name and mail address.") var userIDs: [String] = []
  @Option(help: "universal or advanced.") var profile = ProfileName.universal
  @Flag(help: "Safe against quantum computers.") var postQuantum = false
  @Option(help: "never, a date, or years such as 5y.") var expires: String?
  @Flag(help: "The same as --expires never.") var noExpiry = false

  func validate() throws {
    if userIDs.isEmpty { throw ValidationError("an identity needs --user-id, a name and mail address") }
    if noExpiry, expires != nil { throw ValidationError("give --expires or --no-expiry, not both") }
  }

  func execute(_ context: CommandContext) throws {
    let wanted = try wanted()
    let end = try wanted.end(from: Int64(Date().timeIntervalSince1970))
    let coffer = try context.open(opening)
    let (_, present) = try context.identities(coffer)
    let parts = try context.privateParts(coffer, opening, "to make an identity", sealing: true)
    context.remark("A new identity, \(profile.rawValue): \(profile.promise(isPostQuantum: postQuantum)).")
    if let end {
      context.remark("It expires on \(IdentityView.day(end)); you can move that date at any time.")
    } else {
      context.remark("It never expires.")
    }
    if wanted.userIDs.allSatisfy({ $0.address == nil }) {
      context.remark("It has no mail address: nobody can find you by mail address.")
    }
    for address in present.flatMap(\.userIDs).compactMap(\.address)
    where wanted.userIDs.contains(where: { $0.address?.lowercased() == address.lowercased() }) {
      context.remark(
        "You have another identity with the address \(address): people will have two keys of you.")
      break
    }
    let open = try parts.coffer.openIdentities()
    let identity = try parts.coffer.generateIdentity(wanted, open, parts.authorization)
    let view = IdentityView(identity, among: present)
    if context.isJSON { return JSON.print(view.answer()) }
    context.remark("Made and \(identity.place?.sentence ?? "lost").")
    for line in view.card { context.remark(line) }
    context.nextSteps(
      parts.coffer, "Three things to do now:",
      "  coffer identity backup \(view.word) FILE           a copy that outlives this machine (none yet)",
      "  coffer identity revoke \(view.word) --export FILE  elsewhere, for the day when it is lost",
      "  coffer identity export \(view.word) > FILE         your public part: give it to everybody")
    Terminal.print("\(identity.fingerprint)")
  }

  private func wanted() throws -> NewIdentity {
    let texts = try userIDs.map { try UserIDText(new: $0) }
    let expiry = noExpiry ? .never : try expires.map { try ExpiryText.expiry($0, "--expires") }
    return try NewIdentity(
      userIDs: texts, isUniversal: profile == .universal, isPostQuantum: postQuantum,
      expiry: expiry ?? NewIdentity.defaultExpiry)
  }
}

enum ExpiryText {
  /// The end that a user has given: `never`, a date, or years.
  /// - Parameter what: the option or argument, for the message.
  static func expiry(_ text: String, _ what: String) throws -> NewIdentity.Expiry {
    if text == "never" { return .never }
    if text.hasSuffix("y"), let years = Int(text.dropLast()), years > 0 { return .years(years) }
    guard text.utf8.count == 10, let time = RFC3339.parse(text + "T00:00:00Z") else {
      throw Failure.usage(
        "\(what) is not a date: '\(text)'", hint: "never, a date such as 2030-01-31, or years such as 5y")
    }
    return .at(time)
  }
}

enum ProfileName: String, ExpressibleByArgument, CaseIterable {
  case universal, advanced

  /// The programs that can write to such an identity.
  func promise(isPostQuantum: Bool) -> String {
    switch self {
    case .universal where isPostQuantum:
      "everybody can write to you, and programs of 2026 safely against quantum computers"
    case .universal: "everybody can write to you, GnuPG included"
    case .advanced where isPostQuantum:
      "programs of 2026 and later can write to you; few read your signatures"
    case .advanced: "programs of 2024 and later can write to you; GnuPG cannot"
    }
  }
}

struct IdentityDefaultCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "default", abstract: "Make an identity the default one.")
  static let page = """
    coffer identity default: make an identity the default one, the first of the list

    usage: coffer identity default WHO
                                  \(OpeningOptions.usage)

    example: coffer identity default ada@example.org
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let (open, identities) = try context.identities(coffer)
    let identity = try identities.chosen(who)
    try open.store.makeDefault(identity)
    if context.isJSON { return JSON.print(["default": identity.fingerprint]) }
    context.remark("'\(IdentityView(identity).title)' is the default identity.")
  }
}

struct IdentityDeleteCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete an identity for good.")
  static let page = """
    coffer identity delete: delete an identity and its private part for good

    usage: coffer identity delete WHO [--yes] [--no-backup]
                                  \(OpeningOptions.usage)

    Needs the passphrase or PIN, even during a session. Asks you to type its name, and then once more. A
    private part that cannot be opened any more, and that no identity lists, is named by its fingerprint:
    'coffer recovery-state' shows it.

      --yes        do not ask
      --no-backup  delete it although there is no backup: messages to it can never be read again

    example: coffer identity delete ada@example.org
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Flag(help: "Do not ask.") var yes = false
  @Flag(help: "Delete it although there is no backup.") var noBackup = false

  func execute(_ context: CommandContext) throws {
    guard yes || context.hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "deleting asks twice, and there is no terminal to ask on",
        hint: "add --yes if you are sure")
    }
    let coffer = try context.open(opening, needing: .slot)
    let (open, identities) = try context.identities(coffer, asking: true)
    if let unlisted = open.unlisted.named(who) { return try delete(unlisted, open, coffer, context) }
    let identity = try identities.chosen(who)
    guard identity.isBackedUp || noBackup || !identity.hasPrivatePart else { throw IdentityError.noBackup }
    if !yes { try ask(identity, context) }
    try coffer.deleteIdentity(identity, open, acknowledgesMissingBackup: noBackup)
    if context.isJSON { return JSON.print(["deleted": identity.fingerprint]) }
    context.remark("'\(IdentityView(identity).title)' is deleted.")
  }

  private func delete(
    _ unlisted: UnlistedKey, _ open: OpenIdentities, _ coffer: Coffer, _ context: CommandContext
  ) throws {
    guard noBackup else { throw IdentityError.noBackup }
    if !yes {
      context.remark("This deletes the private key \(unlisted.fingerprint), which no identity lists.")
      guard try context.confirm("Only a backup of it opens messages to it then. Delete?") else {
        throw Failure(.refused, "cancelled", "nothing was deleted")
      }
    }
    try coffer.deleteUnlisted(unlisted, open, acknowledgesMissingBackup: noBackup)
    if context.isJSON { return JSON.print(["deleted": unlisted.fingerprint]) }
    context.remark("The private key \(unlisted.fingerprint) is deleted.")
  }

  /// - Throws: `cancelled` unless the name is typed and the question is answered with yes.
  private func ask(_ identity: Identity, _ context: CommandContext) throws {
    let view = IdentityView(identity)
    let shown = view.name
    context.remark("This deletes\(identity.isDefault ? " your default identity" : ""):")
    for line in view.card { context.remark(line) }
    let typed = try context.terminal().ask(PromptRequest("type its name to go on, \(shown)", isShown: true))
    let isSame = typed.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) == shown }
    let question =
      identity.isBackedUp
      ? "Messages to it can then be read with the backup alone. Delete?"
      : "No backup: messages to it can never be read again. Delete?"
    guard isSame, try context.confirm(question) else {
      throw Failure(.refused, "cancelled", "nothing was deleted")
    }
  }
}
