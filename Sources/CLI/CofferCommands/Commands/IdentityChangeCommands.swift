// SPDX-License-Identifier: Apache-2.0
//
// What you say about your own identity later: its end, that it is not used any more, its names and parts.

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Identities
internal import OpenPGP
internal import Secrets
internal import UserAuthentication

extension CommandContext {
  /// Makes one change of an identity, after all that can be refused without its private part.
  /// - Parameters:
  ///   - purpose: for the prompt, with the name of the identity after it.
  ///   - change: looks at the identity, and asks if it has to.
  ///   - done: what to say of the identity as it is then, and as it was. That others need the new public part follows.
  func change(
    _ who: String, _ opening: OpeningOptions, _ purpose: String,
    _ change: (Identity) throws -> IdentityChange,
    saying done: (_ now: IdentityView, _ before: Identity) -> [ShownLine]
  ) throws {
    let coffer = try open(opening)
    let (store, identities) = try identities(coffer)
    let identity = try identities.chosen(who)
    let wanted = try change(identity)
    try store.store.check(wanted, of: identity)
    let parts = try privateParts(
      coffer, opening, "\(purpose) \(IdentityView(identity).name)", sealing: true)
    let owned = try parts.coffer.openIdentities()
    let changed = try parts.coffer.makeChange(wanted, of: identity, owned, parts.authorization)
    if isJSON { return JSON.print(IdentityView(changed).answer(withParts: true)) }
    let view = IdentityView(changed, among: identities)
    for line in done(view, identity) { remark(line) }
    nextSteps(parts.coffer, view.exportHint)
  }
}

struct IdentityExpireCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Move the end of an identity.")
  static let page = """
    coffer identity expire: give an identity another end; an expired one comes back to life

    usage: coffer identity expire WHO DATE|Ny|never
                                  \(OpeningOptions.usage)

    DATE is a day such as 2030-01-31, Ny a number of years from now. Backups stay good.

    example: coffer identity expire ada@example.org 2y
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Argument(help: "never, a date, or years such as 5y.") var end: String

  func execute(_ context: CommandContext) throws {
    let end = try ExpiryText.expiry(end, "the new end").end(from: Int64(Date().timeIntervalSince1970))
    let words = end.map { "now expires on \(IdentityView.day($0))" } ?? "never expires now"
    try context.change(who, opening, "to move the end of") { _ in
      .end(end)
    } saying: { view, _ in
      ["'\(view.title)' \(words)."]
    }
  }
}

struct IdentityAddUserIDCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "add-user-id", abstract: "Add a name or address to an identity.")
  static let page = """
    coffer identity add-user-id: add a name and mail address to an identity

    usage: coffer identity add-user-id WHO TEXT
               \(OpeningOptions.usage)

    example: coffer identity add-user-id ada@example.org 'Ada Lovelace <ada@new.example>'
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Argument(help: "A name and mail address.") var text: String

  func execute(_ context: CommandContext) throws {
    let userID = try UserIDText(new: text)
    try context.change(who, opening, "to add a name to") { _ in
      .newUserID(userID)
    } saying: { _, _ in
      ["'\(text)' is one of its names now."]
    }
  }
}

struct IdentityRevokeUserIDCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke-user-id", abstract: "Say that a name of an identity is not right any more.")
  static let page = """
    coffer identity revoke-user-id: say that a name or address of an identity is not right any more

    usage: coffer identity revoke-user-id WHO TEXT
               \(OpeningOptions.usage)

    TEXT is a whole name as 'coffer identity show' has it, or its address. The last one stays.

    example: coffer identity revoke-user-id ada@example.org ada@old.example
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Argument(help: "The name or address.") var text: String

  func execute(_ context: CommandContext) throws {
    try context.change(who, opening, "to revoke a name of") { identity in
      let fitting = identity.userIDs.filter { $0.text == text || $0.address == text }
      guard let userID = fitting.first, fitting.count == 1 else { throw IdentityError.userIDMissing }
      return .userIDRevocation(userID)
    } saying: { _, _ in
      ["'\(text)' is not one of its names any more."]
    }
  }
}

struct IdentityAddSubkeyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "add-subkey", abstract: "Add a part to an identity.")
  static let page = """
    coffer identity add-subkey: add a part to an identity, for reading messages or for signing

    usage: coffer identity add-subkey WHO [--for encrypt|sign | --post-quantum]
               \(OpeningOptions.usage)

    A new part for reading is in no backup yet: make one again.

      --for           encrypt (the default), for messages to you; sign, for signatures
      --post-quantum  for messages to you, safe against quantum computers: ML-KEM-768 with X25519 (RFC 9980).
                      Programs that know it take it alone; others, GnuPG too, go on with the old part

    example: coffer identity add-subkey ada@example.org
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(name: .customLong("for"), help: "encrypt or sign.") var use: SubkeyUseName?
  @Flag(help: "For messages, safe against quantum computers.") var postQuantum = false
  @Argument(help: "The identity.", completion: Completions.identities) var who: String

  func validate() throws {
    if postQuantum, use == .sign { throw ValidationError("--post-quantum is for messages, not --for sign") }
  }

  func execute(_ context: CommandContext) throws {
    try context.change(who, opening, "to add a part to") { _ in
      .newSubkey(postQuantum ? .encryptPostQuantum : use == .sign ? .sign : .encrypt)
    } saying: { view, before in
      let safely = postQuantum ? ", safe against quantum computers" : ""
      let made: ShownLine =
        "A new part\(use == .sign ? " for signing" : " for reading messages")\(safely)."
      guard before.isBackedUp, !view.identity.isBackedUp else { return [made] }
      return [
        made,
        "The backup does not have it, and could not read what is written to it: "
          + "coffer identity backup \(view.word) FILE",
      ]
    }
  }
}

enum SubkeyUseName: String, ExpressibleByArgument, CaseIterable {
  case encrypt, sign
}

struct IdentityRevokeSubkeyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke-subkey", abstract: "Say that a part of an identity is not used any more.")
  static let page = """
    coffer identity revoke-subkey: say that a part of an identity is not used any more

    usage: coffer identity revoke-subkey WHO FINGERPRINT [--reason REASON]
               \(OpeningOptions.usage)

    FINGERPRINT is that of the part, as 'coffer identity show WHO --details' has it. Messages that were
    written to it can still be read.

      --reason  superseded (the default), retired, compromised or lost

    example: coffer identity revoke-subkey ada@example.org 5D57DE65E5376CD1BBF149D9086C69E4229020F2
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "superseded, retired, compromised or lost.") var reason = RevocationCause.superseded
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Argument(help: "The fingerprint of the part.") var fingerprint: String

  func execute(_ context: CommandContext) throws {
    let wanted = fingerprint.lowercased().filter { !$0.isWhitespace && $0 != ":" }
    try context.change(who, opening, "to revoke a part of") { _ in
      .subkeyRevocation(wanted, reason)
    } saying: { view, _ in
      let reads = view.identity.parts.contains { $0.purposes.contains("encrypt") && !$0.isRevoked }
      let lost: [ShownLine] =
        reads ? [] : ["Nobody can write to it now: coffer identity add-subkey \(view.word)"]
      return ["That part is not used any more."] + lost
    }
  }
}
