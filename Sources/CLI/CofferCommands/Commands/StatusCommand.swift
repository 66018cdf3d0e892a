// SPDX-License-Identifier: Apache-2.0

internal import Agent
internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Keychains
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import SecurityKeys
internal import Syncing
internal import Texts
internal import Vaults

struct StatusCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "What is here and whether it is open.")
  static let page = """
    coffer status: what is here, what opens it, how much it holds

    usage: coffer status \(OpeningOptions.usage)

    Does not ask for anything, and does not extend a session. In a session, or with a passphrase or a PIN,
    also verifies the count of messages, and shows the age of the vault key, the last recovery drill, the
    last backup, and what each use of a private part asks for.

    example: coffer status
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    var home: String
    /// `locked`, `unlocked` (an agent has the keys), `unknown` (an agent that does not answer may have them),
    /// or `opens` (with what was given).
    var state: String
    /// If `state` is `opens`: the state of the session, as `state` would give it.
    var session: String?
    /// Whether captures can be added while it is locked.
    var afterFirstUnlock: Bool
    var agent: AgentAnswer?
    /// `ready`, or the error code that a PIN would give; missing without a TPM slot.
    var tpm: String?
    var tpmSecondsLeft: Int?
    /// What is plugged in; missing without a slot for a security key.
    var securityKey: String?
    /// What opens it now.
    var opensWith: [String]
    var fileByteCount: Int
    var messageCount: Int
    var captureCount: Int
    var uploads: UploadCounts?
    var deviceRegistered: String?
    var slots: [SlotAnswer]
    /// Missing without an index.
    var index: IndexAnswer?
    var keyVersion: Int?
    var keyCreated: String?
    var lastRecoveryDrill: String?
    var lastBackup: String?
    /// Missing without an account.
    var remote: RemoteAnswer?
    var recentFailures: Int?
    var unexaminedFailures: Int?
    var contactCount: Int?
    var identityCount: Int?
    var identitiesWithoutBackup: Int?
    var mode: String?
    var guards: [String]?
    var withFinger: Bool?
    var fingersLeft: Int?
    var gracePeriodSeconds: Int?
    var tutorialCompleted: Bool?
  }

  struct RemoteAnswer: Encodable {
    let waiting: Int
    let lastComplete: String?
  }

  struct AgentAnswer: Encodable {
    let idleSecondsLeft: Int?
    let absoluteSecondsLeft: Int?
    /// `memfd_secret` or `mlock`.
    let memory: String
    /// Whether it is notified when the session locks or the machine sleeps.
    let hearsSession: Bool
  }

  func execute(_ context: CommandContext) throws {
    let locked = try context.locked()
    let ways = SlotInterfaces.all.filter { $0.hasSlot(locked) }.map { ($0.method.name, $0.obstacle(locked)) }
    let hasChip = TPMInterface.hasSlot(locked)
    let obstacles = ways.compactMap(\.1)
    let chipObstacle = ways.first { $0.0 == TPMSlot.name }?.1
    let sight = AgentSession(locked).look()
    let agent = sight.status
    var answer = Answer(
      home: context.home, state: Self.state(sight),
      afterFirstUnlock: agent.map { $0.state != .neverUnlocked } ?? false, agent: agent.map(AgentAnswer.init),
      tpm: hasChip ? chipObstacle.map { Failure($0).code } ?? "ready" : nil,
      securityKey: SecurityKeyInterface.presence(locked)?.rawValue,
      opensWith: ways.filter { $0.1 == nil }.map(\.0),
      fileByteCount: locked.fileByteCount, messageCount: 0,
      captureCount: try locked.captureRowCount(), slots: locked.slots.map(SlotAnswer.init))
    if case KeybagError.enclave(.lockedOut(let seconds))? = chipObstacle { answer.tpmSecondsLeft = seconds }
    var palette = Palette(nil)
    var people: People?
    var damage: Failure?
    if let coffer = try context.given(opening, locked) {
      (answer.session, answer.state) = (answer.state, "opens")
      people = try complete(&answer, coffer, &damage)
      palette = context.outputPalette(coffer)
    } else if answer.state == "unlocked", let coffer = try context.look(locked) {
      people = try complete(&answer, coffer, &damage)
      palette = context.outputPalette(coffer)
    } else {
      answer.messageCount = try locked.messageRowCount()
    }
    context.isJSON ? JSON.print(answer) : show(answer, obstacles, people, palette)
    if let damage { throw damage }
  }

  private static func state(_ sight: AgentFinder.Sight) -> String {
    if sight.status?.state == .unlocked { return "unlocked" }
    return sight.hasSilentAgent ? "unknown" : "locked"
  }

  /// What an open coffer says beside; nil if protected data cannot be read.
  /// - Parameter damage: gets the first part that is damaged; the rest is answered.
  private func complete(
    _ answer: inout Answer, _ coffer: Coffer, _ damage: inout Failure?
  ) throws -> People? {
    let vault = try coffer.vault.status()
    try coffer.vault.checkCount()
    answer.messageCount = vault.messageCount
    answer.index = try coffer.vault.indexStatus().map(IndexAnswer.init)
    answer.keyVersion = vault.currentKeyVersion
    answer.keyCreated = vault.keys.first { $0.version == vault.currentKeyVersion }
      .map { RFC3339.format($0.created) }
    answer.lastRecoveryDrill = try coffer.settings().lastRecoveryDrill.map(RFC3339.format)
    answer.lastBackup = try coffer.lastBackup().map { RFC3339.format($0.made) }
    answer.remote = (Self.readable(&damage) { try coffer.account.glance() } ?? nil).map {
      RemoteAnswer(waiting: $0.waitingCount, lastComplete: $0.lastComplete.map { RFC3339.format($0) })
    }
    let device = Self.readable(&damage) { try coffer.device() } ?? nil
    answer.deviceRegistered = device?.state.registeredAt.map {
      RFC3339.format(Int64($0.timeIntervalSince1970))
    }
    answer.uploads = Self.readable(&damage) { try coffer.captureAccess.store.listing() }
      .flatMap(UploadCounts.init)
    answer.recentFailures = vault.recentFailures
    answer.unexaminedFailures = vault.unexaminedFailures
    guard let people = Self.readable(&damage, { try People(coffer) }) else { return nil }
    answer.contactCount = people.contactCount
    answer.identityCount = people.identityCount
    answer.identitiesWithoutBackup = people.withoutBackup
    answer.mode = people.mode.name
    answer.guards = people.mode.guards(hasKeys: people.hasGuardKeys).map(\.rawValue)
    answer.withFinger = people.isFingerEnough
    answer.fingersLeft = people.fingersLeft
    answer.gracePeriodSeconds = people.graceSeconds
    answer.tutorialCompleted = people.hasCompletedTutorial
    return people
  }

  /// What can be read; nil otherwise. Why is for the commands of that part to say, but damage is never passed over.
  private static func readable<Value>(_ damage: inout Failure?, _ read: () throws -> Value) -> Value? {
    do { return try read() } catch {
      let failure = Failure(error)
      if failure.exit == .corrupt { damage = damage ?? failure }
      return nil
    }
  }

  private func show(
    _ answer: Answer, _ obstacles: [any Error], _ people: People?, _ palette: Palette
  ) {
    Self.row("home       \(answer.home)")
    Self.row("state      \(state(answer))")
    Self.row("opens with \(answer.opensWith.joined(separator: ", "))")
    for obstacle in obstacles {
      Self.row("           \(SlotInterfaces.sentence(obstacle)): use the passphrase")
    }
    let doubt = answer.keyVersion == nil ? " (as the file says; the passphrase verifies it)" : ""
    Self.row("messages   \(answer.messageCount.grouped)\(doubt)")
    if let index = answer.index { Self.row("index      \(index.words)") }
    if answer.captureCount > 0 {
      let waiting = answer.uploads.map { "; \($0.waiting) not uploaded" } ?? ""
      Self.row("captures   \(answer.captureCount.grouped)\(waiting)")
    }
    Self.row("file       \(ByteCount.text(answer.fileByteCount))")
    if let version = answer.keyVersion, let created = answer.keyCreated {
      Self.row("vault key  version \(version), made \(LocalTime.shown(created))")
      Self.row(
        "drill      \(answer.lastRecoveryDrill.map(LocalTime.shown) ?? "never: run 'coffer recovery drill'")")
      Self.row(
        "backup     \(answer.lastBackup.map(LocalTime.shown) ?? "none yet: run 'coffer backup FILE'")")
      if let remote = answer.remote { Self.row("remote     \(remote.words)") }
      if let people {
        people.show(palette)
      } else {
        Self.row("OpenPGP    cannot be read: 'coffer recovery-state' says why")
      }
    }
    if let failures = answer.recentFailures, failures > 0 {
      Self.row("failures   \(failures.counted("message")) did not open in the last hour")
    }
    if let failures = answer.unexaminedFailures, failures > 0 {
      Self.row(
        "warning    \(failures.counted("message")) did not open: restore from backup; 'coffer doctor --deep' names "
          + "them")
    }
    let columns = Terminal.isOutputTerminal ? Terminal.columns - "slot       ".count : nil
    for row in SlotAnswer.rows(answer.slots, columns: columns) { Self.row("slot       \(row)") }
  }

  /// A row with its name in eleven columns.
  static func row(_ line: ShownLine) { Terminal.print(line, textAt: "slot       ".count) }

  private func state(_ answer: Answer) -> String {
    switch answer.state {
    case "opens":
      switch answer.session {
      case "unlocked": return "what you gave opens it; a session is open too: 'coffer lock' ends it"
      case "unknown":
        return
          "what you gave opens it; an agent does not answer and may still have the keys: 'coffer lock --all' ends it"
      default: return "what you gave opens it; there is no session"
      }
    case "unlocked":
      guard let agent = answer.agent, let idle = agent.idleSecondsLeft else { return "unlocked" }
      if let last = agent.absoluteSecondsLeft, last <= idle {
        return "unlocked; locks itself in \(Duration.text(last))"
      }
      return "unlocked; locks itself in \(Duration.text(idle)) without a command"
    case "unknown": return "an agent does not answer and may still have the keys; 'coffer lock --all' ends it"
    default:
      return answer.afterFirstUnlock
        ? "locked; captures can be added" : "locked; 'coffer unlock' starts a session"
    }
  }
}

extension StatusCommand.RemoteAnswer {
  fileprivate var words: String {
    let last = lastComplete.map { "complete \(LocalTime.shown($0))" } ?? "never complete"
    return waiting == 0
      ? last : "\(waiting.counted("change")) \(waiting == 1 ? "waits" : "wait"): 'coffer sync'; \(last)"
  }
}

extension StatusCommand.AgentAnswer {
  init(_ status: AgentStatus) {
    self.init(
      idleSecondsLeft: status.secondsUntilIdle, absoluteSecondsLeft: status.secondsUntilAbsolute,
      memory: status.keyMemory == .secret ? "memfd_secret" : "mlock",
      hearsSession: status.sessionWatch == .watched)
  }
}
