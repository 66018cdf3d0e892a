// SPDX-License-Identifier: Apache-2.0
//
// The end of an identity for good, and the file for the day when it is lost.

internal import ArgumentParser
internal import CofferKit
internal import Identities
internal import Primitives
internal import Secrets
internal import UserAuthentication

struct IdentityRevokeCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Say that an identity is not used any more, for good.")
  static let page = """
    coffer identity revoke: say to everybody, for good, that an identity is not used any more

    usage: coffer identity revoke WHO [--reason REASON] [--yes]
                                  \(OpeningOptions.usage)
           coffer identity revoke WHO --export FILE

    Asks why, and for the last group of the fingerprint. It still reads what was written to it.

      --reason       superseded: a new one replaces it; retired: it is not used any more; compromised:
                     somebody else may have it; lost
      --yes          do not ask; needs --reason
      --export FILE  revoke nothing now; write the revocation to a new file, for the day when the identity is
                     lost. No program takes the file before you remove a colon in it

    example: coffer identity revoke ada@example.org --export /media/stick/ada-revocation.txt
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "superseded, retired, compromised or lost.") var reason: RevocationCause?
  @Flag(help: "Do not ask.") var yes = false
  @Option(help: "Write the revocation to a new file.", completion: .file()) var export: String?
  @Argument(help: "The identity.", completion: Completions.identities) var who: String

  func validate() throws {
    try FileArgument.check(export)
    if export != nil, reason != nil || yes {
      throw ValidationError(
        "--export takes neither --reason nor --yes: it gives no reason, and revokes nothing")
    }
    if yes, reason == nil { throw ValidationError("--yes needs --reason") }
  }

  struct Answer: Encodable {
    let output: String
    let fingerprint: String
  }

  func execute(_ context: CommandContext) throws {
    if let export { return try write(to: export, context) }
    guard yes || context.hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "revoking asks why, and there is no terminal to ask on",
        hint: "add --reason and --yes if you are sure")
    }
    try context.change(who, opening, "to revoke") { identity in
      .revocation(try cause(identity, context))
    } saying: { view, _ in
      ["'\(view.title)' is revoked. Only those learn it to whom you give the new public part."]
    }
  }

  /// Asks why, and for the last group of the fingerprint.
  private func cause(_ identity: Identity, _ context: CommandContext) throws -> RevocationCause {
    if let reason, yes { return reason }
    // What cannot be revoked is not asked about.
    guard identity.state != .revoked || reason == .compromised else { throw IdentityError.revoked }
    let view = IdentityView(identity)
    let terminal = try context.terminal()
    context.remark("This says to everybody, for good: do not use this key any more.")
    for line in view.card { context.remark(line) }
    let cause = try reason ?? askWhy(terminal, context)
    let group = String(identity.fingerprint.suffix(4)).uppercased()
    let typed = try terminal.ask(
      PromptRequest("type the last group of its fingerprint to go on, \(group)", isShown: true))
    guard typed.text.uppercased() == group else {
      throw Failure(.refused, "cancelled", "nothing was revoked")
    }
    return cause
  }

  private func askWhy(_ terminal: any PassphrasePrompt, _ context: CommandContext) throws -> RevocationCause {
    context.remark("Why?")
    context.remark("  1  a new one replaces it")
    context.remark("  2  it is not used any more")
    context.remark("  3  somebody else may have it")
    context.remark("  4  it is lost")
    let causes: [String: RevocationCause] = [
      "1": .superseded, "2": .retired, "3": .compromised, "4": .lost,
    ]
    var problem: String?
    while true {
      let typed = try terminal.ask(PromptRequest("1 to 4", problem: problem, isShown: true))
      if let cause = causes[typed.text] { return cause }
      problem = "type a number from 1 to 4"
    }
  }

  private func write(to path: String, _ context: CommandContext) throws {
    let coffer = try context.open(opening, needing: .slot)
    var (open, identities) = try context.identities(coffer)
    let identity = try identities.chosen(who)
    if !identity.hasRevocation {
      let parts = try context.privateParts(
        coffer, opening, "to make a revocation of \(IdentityView(identity).name)", sealing: true)
      open = try parts.coffer.openIdentities()
      try parts.coffer.makeRevocation(identity, open, parts.authorization)
    }
    do { try coffer.writeRevocation(identity, coffer.openIdentities(), path: path) } catch let error
      as IdentityError
    {
      throw Failure(error, naming: path)
    }
    if context.isJSON { JSON.print(Answer(output: path, fingerprint: identity.fingerprint)) }
    context.remark(
      "Written. Nothing is revoked yet. Whoever has this file can end the identity: keep it apart")
    context.remark("from this machine and from its backup. The file says what to do on the day.")
  }
}

extension SecretBytes {
  /// What was typed, as text; for answers that are not secret.
  fileprivate var text: String { withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) } }
}
