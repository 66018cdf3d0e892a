// SPDX-License-Identifier: Apache-2.0
//
// `coffer sync quarantine`: what a revocation cut off, as a list, and some of it taken in.

internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Syncing
internal import Texts
internal import Vaults

struct SyncQuarantine {
  private let account: OpenAccount
  private let changes: [QuarantinedChange]

  struct Answer: Encodable {
    struct Change: Encodable {
      /// `version`, `removal`, `capture` or `capture_removal`.
      let kind: String
      let device: DeviceAnswer?
      /// What the device was called.
      let deviceName: String
      let number: UInt64
      let came: String
      let id: String
      let stored: String?
      let title: String?
    }
    let quarantine: [Change]
  }

  struct TakenAnswer: Encodable {
    let taken: [String]
    let unreadable: [String]
  }

  init(_ account: OpenAccount) throws {
    self.account = account
    changes = try account.synchronizer.quarantine()
  }

  // MARK: List

  func list(_ context: CommandContext) throws {
    if context.isJSON { return JSON.print(Answer(quarantine: answers)) }
    guard !changes.isEmpty else { return context.remark("No revocation has cut anything off.") }
    for change in changes { Terminal.print(Self.line(change)) }
    if context.hasTerminal {
      let takes = changes.contains { $0.kind.isAddition }
      context.remark(
        "None of this has an effect"
          + (takes
            ? ". 'coffer sync quarantine take ID' makes a message or capture one of this device, 'take all' what nobody else has."
            : ": what was removed is here, and nothing is to be done."))
    }
  }

  private var answers: [Answer.Change] {
    let devices = Dictionary(
      uniqueKeysWithValues: account.synchronizer.devices.map { ($0.id, DeviceAnswer($0)) })
    return changes.map { change in
      Answer.Change(
        kind: change.kind.word, device: devices[change.device],
        deviceName: change.deviceName, number: change.number, came: RFC3339.format(change.cameAt),
        id: change.message.description, stored: change.storedAt.map { RFC3339.format($0) },
        title: change.title)
    }
  }

  private static func line(_ change: QuarantinedChange) -> ShownLine {
    let id = Terminal.isOutputTerminal ? MessageChoice.shown(change.message) : change.message.description
    let what =
      switch change.kind {
      case .version: ""
      case .capture: "capture "
      case .removal: "removed "
      case .captureRemoval: "removed a capture "
      }
    let title = change.title ?? (change.kind == .version ? "(not here)" : "")
    return
      "\(id)  \(LocalTime.shown(change.cameAt))  \(change.deviceName) \(String(change.number))  \(what)\(title)"
  }

  // MARK: Taking

  func take(_ words: [String], _ context: CommandContext) throws {
    let chosen = try words == ["all"] ? notShared() : words.map(message)
    let taking = try OpenAccount.watching("taking", context) { goesOn in
      try account.synchronizer.takeFromQuarantine(
        chosen, at: { try account.place.reached() }, progress: goesOn)
    }
    if !taking.taken.isEmpty {
      account.coffer.noteAccountChange(.quarantineTaken, count: taking.taken.count)
    }
    if context.isJSON {
      JSON.print(
        TakenAnswer(
          taken: taking.taken.map(\.description), unreadable: taking.unreadable.map(\.description)))
    } else if !taking.taken.isEmpty {
      let captures = Set(changes.filter { $0.kind == .capture }.map(\.message))
      let captureCount = taking.taken.count { captures.contains($0) }
      let counts = [(taking.taken.count - captureCount, "message"), (captureCount, "capture")]
      let words = counts.filter { $0.0 > 0 }.map { $0.0.counted($0.1) }.joined(separator: " and ")
      context.remark("\(words) taken in; 'coffer sync' sends \(taking.taken.count == 1 ? "it" : "them").")
    }
    guard !taking.isStopped else {
      throw Failure.interrupted(
        "what was taken in stays", hint: "'coffer sync quarantine' lists what was cut off")
    }
    guard taking.unreadable.isEmpty else {
      throw Failure(
        .corrupt, "remote_incomplete",
        "\(taking.unreadable.count.counted("message or capture", "messages and captures")) cannot be read: the content is not at the place, or damaged",
        hint: "on a device that has it: 'coffer remote verify --read 100', then try again")
    }
  }

  /// Everything that nobody else added.
  private func notShared() throws -> [MessageID] {
    let messages = Set(changes.filter(\.kind.isAddition).map(\.message)).filter(
      account.synchronizer.isOnlyCutOff)
    guard !messages.isEmpty else {
      throw Failure(
        .missing, "message_not_found", "others have, or have removed, all that was cut off",
        hint: "'coffer sync quarantine' lists it, and 'take ID' takes it")
    }
    return messages.sorted()
  }

  /// The message whose identifier is this, or ends so.
  private func message(_ word: String) throws -> MessageID {
    let text = word.lowercased()
    let meant = changes.filter {
      $0.message.description == text || text.count >= 4 && $0.message.description.hasSuffix(text)
    }
    let found = Set(meant.filter(\.kind.isAddition).map(\.message))
    if found.isEmpty, let removal = meant.first {
      let isCapture = removal.kind == .captureRemoval
      throw Failure(
        .missing, "message_not_found",
        "this is a removal that has no effect: the \(isCapture ? "capture" : "message") is here",
        hint: isCapture ? "'coffer capture remove' removes it" : "'coffer remove' removes it")
    }
    guard let message = found.first else {
      throw Failure(
        .missing, "message_not_found", "no message that was cut off has this identifier",
        hint: "'coffer sync quarantine' lists them; a removal is done again with 'coffer remove'")
    }
    guard found.count == 1 else {
      let (message, hint) = MessageChoice.ambiguity(
        word, "messages that were cut off",
        found.sorted().map { id in (id, changes.first { $0.message == id }?.title ?? "") })
      throw Failure(.usage, "ambiguous_message", message, hint: hint)
    }
    return message
  }
}

extension QuarantinedChange.Kind {
  fileprivate var word: String {
    switch self {
    case .version: "version"
    case .removal: "removal"
    case .capture: "capture"
    case .captureRemoval: "capture_removal"
    }
  }
}
