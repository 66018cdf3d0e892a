// SPDX-License-Identifier: Apache-2.0
//
// What each use of a private part asks for: shown, and changed.

internal import Agent
internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Identities
internal import KeyCustody
internal import Primitives
internal import ProtectedData
internal import Secrets
internal import UserAuthentication

struct ModeCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "mode", abstract: "What each use of your private parts asks for.")
  static let page = """
    coffer mode: what each use of your private parts asks for; shows it, or changes it

    usage: coffer mode
           coffer mode standard [--with-finger] [--guard-lost]
           coffer mode high-security --guard security-key|pin|finger
                      [--acknowledge-no-backup] [--guard-lost]
                      \(GuardPINOptions.usage)
                      \(NewGuardPINOptions.usage)
                      \(OpeningOptions.usage)
           coffer mode guard add NAME | remove NAME

    standard       each use asks for the passphrase, or the PIN of a slot
      --with-finger  a finger on the reader is enough too. With this on, a program that runs as you can use
                     your identities while the coffer is unlocked.
    high-security  the passphrase is not enough: each use needs the guard. If that is lost, only the backups
                   of your identities help.
      --guard security-key
                     your security key and its PIN or your finger on it. A second one is offered at
                     once; with one alone, each identity needs a backup. --new-guard-pin gives the PIN
                     of the key that is enrolled, --guard-pin later that of the key that is used.
      --guard pin    a PIN, and this machine's TPM counts wrong ones. It is asked for twice; take another
                     than the one that opens the coffer. Given again, it is a new PIN.
      --guard finger a finger on the reader. On Linux this is a check by this program: somebody who knows the
                     passphrase and can run programs as you gets past it.
      --acknowledge-no-backup
                     although there is an identity without a backup

    guard          the security keys of the guard; 'coffer mode' shows their names
      add NAME       adds one: on the terminal, which says what to plug in
      remove NAME    removes one, such as a lost one, with another one. Each that stays is needed once. Older
                     copies of the file still open with the removed key, its PIN and the passphrase.

    --guard-lost   the present guard is lost: leaves it without it. No private part is sealed again, and each
                   comes back from its backup, which it must have: coffer identity import FILE

    A change needs the passphrase or PIN, even during a session, and what the present mode asks for. All
    private parts are sealed again, or none; those that cannot be opened any more stay behind. Without any
    other private part, the present guard is not asked for.

    example: coffer mode high-security --guard pin
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var newGuardPIN: NewGuardPINOptions
  @Argument(help: "The new mode, or 'guard'.") var mode: ModeName?
  @Argument(help: "After 'guard': add or remove, and a name.") var change: [String] = []
  @Flag(help: "A finger is enough too.") var withFinger = false
  @Option(name: .customLong("guard"), help: "security-key, pin or finger.") var guardName: GuardName?
  @Flag(help: "Although there is an identity without a backup.") var acknowledgeNoBackup = false
  @Flag(help: "Leave a guard that is lost, and the private parts that it opens.") var guardLost = false

  /// The keys that a change does not open.
  private var left: LeftKeys { guardLost ? .underLostGuard : .lost }

  enum ModeName: String, ExpressibleByArgument, CaseIterable {
    case standard
    case highSecurity = "high-security"
    case guardKeys = "guard"
  }

  struct Answer: Encodable {
    let mode: String
    let withFinger: Bool
    let guards: [String]
    let eachUse: [[String]]
    /// The names of security keys; missing for another guard.
    let securityKeys: [String]?

    init(_ mode: AuthenticationMode, keys: [String]?) {
      self.mode = mode.name
      withFinger = mode == .standardWithFinger
      guards = mode.guards(hasKeys: keys != nil).map(\.rawValue)
      eachUse = mode.eachUse(hasKeys: keys != nil)
      securityKeys = keys
    }
  }

  func validate() throws {
    if mode != .guardKeys, let word = change.first { throw ValidationError("unexpected argument '\(word)'") }
    if guardLost, mode != .standard, mode != .highSecurity {
      throw ValidationError("--guard-lost goes with 'standard' and 'high-security'")
    }
    if withFinger, mode != .standard { throw ValidationError("--with-finger goes with 'standard'") }
    if mode != .highSecurity, guardName != nil || acknowledgeNoBackup {
      throw ValidationError("--guard and --acknowledge-no-backup go with 'high-security'")
    }
    if newGuardPIN.fd != nil || newGuardPIN.file != nil, guardName != .pin, guardName != .securityKey,
      mode != .guardKeys
    {
      throw ValidationError("--new-guard-pin goes with '--guard pin' and '--guard security-key'")
    }
  }

  func execute(_ context: CommandContext) throws {
    switch mode {
    case nil:
      let coffer = try context.open(opening)
      try show(try coffer.authenticationMode(), try coffer.guardKeys(), context)
    case .standard: try enterStandard(context)
    case .highSecurity: try enterHighSecurity(context)
    case .guardKeys: try GuardKeyChange(change).execute(context, opening, newPIN: newGuardPIN)
    }
  }

  private func show(_ mode: AuthenticationMode, _ keys: GuardKeys?, _ context: CommandContext) throws {
    let labels = keys?.keys.map(\.label)
    if context.isJSON { return JSON.print(Answer(mode, keys: labels)) }
    Terminal.print("mode      \(mode.name)")
    for name in mode.guards(hasKeys: keys != nil) {
      Terminal.print("guard     \(name.rawValue)")
      Terminal.print("          \(name.sentence)")
    }
    for label in labels ?? [] { Terminal.print("key       \(label)") }
    Terminal.print("each use  \(mode.asksFor(hasKeys: keys != nil))")
    if mode == .standardWithFinger { Terminal.print("          \(AuthenticationMode.fingerSentence)") }
    if !mode.isHighSecurity {
      Terminal.print("          In a session, not again within the grace period: 'coffer settings'")
    }
  }

  // MARK: Changing

  private func enterStandard(_ context: CommandContext) throws {
    let next: AuthenticationMode = withFinger ? .standardWithFinger : .standard
    if withFinger { try GuardName.checkReader() }
    let coffer = try context.open(opening)
    if withFinger { context.remark("\(AuthenticationMode.fingerSentence)") }
    try confirmLoss(context)
    let parts = try privateParts(coffer, context)
    try parts.coffer.switchMode(
      parts.custody, to: next, parts.authorization, leaving: left, acknowledgesMissingBackup: false)
    try done(next, parts.coffer, context)
  }

  private func enterHighSecurity(_ context: CommandContext) throws {
    _ = try context.locked()
    let name = try guardName ?? chosenGuard(context)
    if name == .securityKey, context.machine.securityKeys == nil { _ = try context.onlySecurityKey() }
    try name.check(context.machine)
    let coffer = try context.open(opening)
    // Without a terminal nobody can be asked for a second key.
    try checkBackups(coffer, isOneKey: name == .securityKey && !context.hasTerminal, context)
    context.remark("\(name.sentence)")
    context.remark(
      "From now on every reading and signing needs \(name.need); if that is lost, only the backups of your identities help."
    )
    try confirmLoss(context)
    let parts = try privateParts(coffer, context)
    switch name {
    case .securityKey:
      let made = try SecurityKeyEnrolment(context, parts.custody).newGuard(pin: try newGuardPIN.given())
      try parts.coffer.switchMode(
        parts.custody, to: .highSecurityWithGuard, parts.authorization, guard: made, leaving: left,
        acknowledgesMissingBackup: acknowledgeNoBackup)
      try done(.highSecurityWithGuard, parts.coffer, context)
    case .pin:
      let made = try newGuard(parts.custody, context)
      try parts.coffer.switchMode(
        parts.custody, to: .highSecurityWithGuard, parts.authorization, guard: made, leaving: left,
        acknowledgesMissingBackup: acknowledgeNoBackup)
      try done(.highSecurityWithGuard, parts.coffer, context)
    case .finger:
      let authorization = try withFinger(parts, context)
      try parts.coffer.switchMode(
        parts.custody, to: .highSecurityWithFinger, authorization, leaving: left,
        acknowledgesMissingBackup: acknowledgeNoBackup)
      try done(.highSecurityWithFinger, parts.coffer, context)
    }
  }

  private func privateParts(_ coffer: Coffer, _ context: CommandContext) throws -> PrivateParts {
    try context.privateParts(coffer, opening, "to change the mode", sealing: true, leaving: left)
  }

  /// - Throws: `cancelled` when somebody can be asked, and does not want it.
  private func confirmLoss(_ context: CommandContext) throws {
    guard guardLost, context.hasTerminal, !context.isJSON else { return }
    guard
      try context.confirm("Every private part that the guard opens comes back from its backup alone. Go on?")
    else { throw Failure(.refused, "cancelled", "nothing was changed") }
  }

  /// The guard is used once before anything depends on it.
  private func withFinger(_ parts: PrivateParts, _ context: CommandContext) throws -> CustodyAuthorization {
    var context = context
    context.purpose = "to change the mode"
    guard let finger = try context.finger(.deviceOwnerWithBiometrics, parts.coffer) else {
      throw CustodyError.fingerRequired
    }
    return parts.authorization.with(finger: try parts.custody.fingerVerifier(finger))
  }

  private func newGuard(_ custody: PrivateKeyCustody, _ context: CommandContext) throws -> NewGuard {
    guard let chip = context.machine.chip else { throw CustodyError.guardNeedsChip }
    let pin = try context.newPIN(
      newGuardPIN.given(), words: "new PIN of the guard", option: "--new-guard-pin")
    return try custody.newGuard(pin: pin, in: chip)
  }

  /// A list of what this machine has, the strongest first.
  private func chosenGuard(_ context: CommandContext) throws -> GuardName {
    guard context.hasTerminal, !context.isJSON else {
      throw Failure.usage(
        "high-security needs --guard", hint: "--guard security-key, --guard pin, or --guard finger")
    }
    let possible = GuardName.allCases.filter { (try? $0.check(context.machine)) != nil }
    guard !possible.isEmpty else {
      throw Failure(
        .noHardware, "no_chip",
        "this machine has no guard: no security key, no TPM that answers, no reader with an enrolled finger",
        hint: "COFFER_TCTI names the TPM")
    }
    for name in possible {
      Terminal.remark("\(name.rawValue.padded(to: 12))  \(name.sentence)")
    }
    let names = possible.map(\.rawValue).joined(separator: " or ")
    let typed = try context.terminal().askLine("guard (\(names))")
    let word = typed.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    guard let name = possible.first(where: { $0.rawValue == word }) else {
      throw Failure.usage("'\(word)' is not a guard of this machine", hint: names)
    }
    return name
  }

  /// Names every identity that would be lost with the guard (AM-05).
  /// - Parameter isOneKey: whether one security key alone will be the guard, which no acknowledgement allows.
  private func checkBackups(_ coffer: Coffer, isOneKey: Bool, _ context: CommandContext) throws {
    guard !guardLost else { return }
    let exposed = try context.identities(coffer, asking: true).all
      .filter { !$0.isBackedUp && $0.hasPrivatePart }
    guard !exposed.isEmpty else { return }
    let names = exposed.map { "'\(IdentityView($0).title)'" }.joined(separator: ", ")
    guard !isOneKey else {
      throw Failure(
        .refused, "no_backup", "no backup, and lost with the only security key: \(names)",
        hint: "on a terminal a second key is offered; 'coffer identity backup WHO FILE' writes a backup")
    }
    guard acknowledgeNoBackup else {
      throw Failure(
        .refused, "no_backup", "no backup, and lost with the guard: \(names)",
        hint: "--acknowledge-no-backup if that is what you want")
    }
    context.remark("No backup: \(names).")
  }

  private func done(_ mode: AuthenticationMode, _ coffer: Coffer, _ context: CommandContext) throws {
    if mode.isHighSecurity {
      do throws(AgentError) { try coffer.endGrace() } catch {
        throw Failure(keptAfter: "the mode is \(mode.name) now", error)
      }
    }
    let behind = try coffer.openPrivateKeys().custody.places().values.count(where: \.isLost)
    if behind > 0 {
      context.remark(
        "\(behind.counted("private key")) stayed behind, and cannot be opened any more: 'coffer recovery-state' says what to do."
      )
    }
    // It was read and written a moment ago.
    let keys = (try? coffer.guardKeys())?.keys.map(\.label)
    if context.isJSON { return JSON.print(Answer(mode, keys: keys)) }
    context.remark("Mode \(mode.name): each use \(mode.asksFor(hasKeys: keys != nil)).")
  }
}
