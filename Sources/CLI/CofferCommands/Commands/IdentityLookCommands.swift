// SPDX-License-Identifier: Apache-2.0
//
// Identities: what is there, and giving the public part away. Nothing of the private part is opened.

internal import ArgumentParser
internal import CofferKit
internal import Correspondence
internal import Enclaves
internal import Identities
internal import KeyCustody
internal import OpenPGP
internal import ProtectedData
internal import Secrets

struct IdentityListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List your identities.")
  static let page = """
    coffer identity list: list your identities, the default one first

    usage: coffer identity list \(OpeningOptions.usage)

    A star marks the default identity. Private keys that no identity lists, as after 'coffer reset
    key-metadata', are listed again with what opens them: the passphrase or PIN, and the guard of high
    security. Those that cannot be opened any more are named by their fingerprints. On a pipe:
    fingerprint, end and user ID, separated by tabs.

    example: coffer identity list
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let (open, identities) = try found(coffer, context)
    let palette = context.outputPalette(coffer)
    for identity in identities {
      let view = IdentityView(identity)
      if context.isJSON {
        JSON.print(view.answer())
      } else {
        Terminal.print(Terminal.isOutputTerminal ? view.row(palette) : view.fields)
      }
    }
    if Terminal.isOutputTerminal { adviseBackups(identities, context) }
    for key in open.unlisted.lost {
      context.remark("  \(key.fingerprint)  \(key.place.loss?.sentence ?? "")")
    }
    if identities.isEmpty, open.unlisted.isEmpty {
      context.remark("There are no identities yet: coffer identity generate --user-id 'NAME <ADDRESS>'")
    }
  }

  /// Lists private keys again that only the guard opens, if somebody can be asked for it, or an option gives it.
  private func found(
    _ coffer: Coffer, _ context: CommandContext
  ) throws -> (open: OpenIdentities, all: [Identity]) {
    let open = try coffer.openIdentities()
    guard !open.unlisted.openable.isEmpty, try coffer.authenticationMode().isHighSecurity,
      opening.guardPIN.isGiven || (context.hasTerminal && !context.isJSON)
    else { return try context.identities(coffer, asking: true) }
    let parts = try context.privateParts(coffer, opening, "to list private keys again", sealing: true)
    _ = try parts.coffer.openIdentities(parts.authorization)
    return try context.identities(parts.coffer, asking: true)
  }

  /// One line for the first that would be lost with this machine, and one for the first of which only the file is left
  /// that it came from.
  private func adviseBackups(_ identities: [Identity], _ context: CommandContext) {
    let lacking = identities.filter { $0.hasPrivatePart && !$0.isBackedUp }
    func command(_ identity: Identity) -> ShownLine {
      "coffer identity backup \(IdentityView(identity, among: identities).word) FILE"
    }
    if let first = lacking.first(where: { !$0.isImported }) {
      context.remark("NO BACKUP: if this machine breaks, messages to it are lost: \(command(first))")
    }
    if let first = lacking.first(where: \.isImported) {
      context.remark(
        "imported: its only backup is the file that it came from, if you kept that: \(command(first))")
    }
  }
}

struct IdentityShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show an identity.")
  static let page = """
    coffer identity show: show an identity

    usage: coffer identity show WHO [--details]
                                \(OpeningOptions.usage)

      --details  also its parts: the primary key and the subkeys

    example: coffer identity show ada@example.org
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Flag(help: "Show its parts.") var details = false

  func execute(_ context: CommandContext) throws {
    let (_, identities) = try context.identities(context.open(opening), asking: true)
    let view = IdentityView(try identities.chosen(who), among: identities)
    if context.isJSON { return JSON.print(view.answer(withParts: details)) }
    for line in view.page { Terminal.print(line) }
    if details {
      for line in view.parts { Terminal.print(line) }
    }
  }
}

struct IdentityExportCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the public part of an identity.")
  static let page = """
    coffer identity export: write the public part of an identity, which anybody may have

    usage: coffer identity export WHO [--output FILE]
                                  \(OpeningOptions.usage)

      --output FILE  write a new file instead of standard output

    example: coffer identity export ada@example.org > ada.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String
  @Option(help: "A new file.", completion: .file()) var output: String?

  func validate() throws { try FileArgument.check(output) }

  struct Answer: Encodable {
    let output: String
    let fingerprint: String
  }

  func execute(_ context: CommandContext) throws {
    try context.requireOutput(output, of: "the public part")
    let coffer = try context.open(opening)
    let (_, identities) = try context.identities(coffer)
    let identity = try identities.chosen(who)
    if let output {
      try write(identity, to: output)
      if context.isJSON { JSON.print(Answer(output: output, fingerprint: identity.fingerprint)) }
    } else {
      try print(identity)
    }
    context.remark("This is your public part, without the private one. Anybody may have it. Fingerprint:")
    for line in IdentityView(identity).fingerprint { context.remark(line) }
    if identity.version == 4 {
      context.nextSteps(
        coffer, "Whoever uses gpg runs, with your file, and compares the fingerprint with you:",
        "  gpg --import FILE", "  gpg --export --armor ADDRESS > THEIRS   and gives you that")
    }
    context.nextSteps(coffer, "Then: coffer contact import THEIRS")
  }

  private func write(_ identity: Identity, to path: String) throws {
    let text = try identity.publicPart()
    do throws(OpenPGPError) { try CommandSurroundings.current.files.publish(text, as: path) } catch {
      throw Failure(openPGP: error, writing: path)
    }
  }

  private func print(_ identity: Identity) throws {
    let text = try identity.publicPart()
    Terminal.write(text.rawSpan)
  }
}

// MARK: Finding them

extension CommandContext {
  /// Content and JSON cannot share standard output.
  func requireOutput(_ output: String?, of what: String) throws {
    guard !isJSON || output != nil else {
      throw Failure.usage("with --json, \(what) needs --output FILE")
    }
  }

  /// The identities of an open coffer; says it when a private key has none.
  /// - Parameter asks: whether the enclaves are asked for the private parts.
  func identities(
    _ coffer: Coffer, asking asks: Bool = false
  ) throws -> (open: OpenIdentities, all: [Identity]) {
    let open = try coffer.openIdentities()
    let (openable, lost) = (open.unlisted.openable.count, open.unlisted.lost.count)
    if openable > 0 {
      let needs =
        try coffer.authenticationMode().isHighSecurity
        ? "the guard: coffer identity list, on a terminal or with --guard-pin-file"
        : "the passphrase or PIN: coffer lock, then coffer identity list"
      remark("\(openable.counted("private key")) cannot be listed without \(needs)")
    }
    if lost > 0 {
      remark(
        "\(lost.counted("private key")) cannot be opened any more: 'coffer recovery-state' says what to do")
    }
    return (open, try coffer.identities(open, asking: asks))
  }
}

extension [Identity] {
  /// The one identity that these words mean.
  /// - Throws: `ambiguous_identity`, `unknown_identity`; `usage` for a fingerprint that is cut off.
  func chosen(_ who: String) throws -> Identity {
    switch choose(who) {
    case .one(let identity): return identity
    case .several(let fitting):
      let candidates = fitting.map { "\(IdentityView($0).title) \($0.fingerprint)" }
      throw Failure(
        .usage, "ambiguous_identity", "'\(who)' fits \(fitting.count) identities",
        hint: "name one by its fingerprint: \(candidates.joined(separator: ", "))")
    case .shortFingerprint:
      throw Failure.usage(
        "'\(who)' is not a whole fingerprint, and short ones can be forged",
        hint: "give all 40 or 64 digits, a key ID of 16, or the address")
    case .nothing:
      throw Failure(
        .missing, "unknown_identity", "there is no identity '\(who)'",
        hint: "'coffer identity list' shows them")
    }
  }
}
