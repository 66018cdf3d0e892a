// SPDX-License-Identifier: Apache-2.0
//
// What is done with the account of several devices: two coffers and the folder in which they meet are one disk, and all of
// it stops at once. Whatever was done of it, the next runs of both end with the same messages on both, and no alarm.

import CofferKit
import CrashDisk
import Enclaves
import Foundation
import Histories
import Keychains
import MessageFormats
import Primitives
import Remotes
import Secrets
import Synchronization
import Syncing
import Vaults

final class AccountOperation: CrashScenario {
  let store = "file"
  let operation: String
  /// A judgement is several runs of two devices.
  let stride = 17
  /// Days between the beginning of the preparation and the operation.
  private let days: Int64
  private let preparation: (Devices) throws -> Void
  private let deed: (Devices) throws -> Void
  private let isDone: (Devices) throws -> Bool
  private let end: (Devices, Bool) throws -> Void

  /// - Parameters:
  ///   - days: between the beginning of the preparation, which lets them pass, and the operation.
  ///   - preparation: what is there before, beside two coffers with a message each and a folder.
  ///   - deed: the operation.
  ///   - isDone: whether it was done, as far as others see.
  ///   - end: goes on from there to what is the same in both cases, and compares.
  init(
    _ operation: String, afterDays days: Int64 = 0, preparation: @escaping (Devices) throws -> Void,
    deed: @escaping (Devices) throws -> Void, isDone: @escaping (Devices) throws -> Bool,
    end: @escaping (Devices, Bool) throws -> Void
  ) {
    self.operation = operation
    self.days = days
    self.preparation = preparation
    self.deed = deed
    self.isDone = isDone
    self.end = end
  }

  static var all: [AccountOperation] { runs + devices + captures }

  private static var runs: [AccountOperation] {
    [
      AccountOperation("account make") { _ in
      } deed: {
        try $0.makeAccount()
      } isDone: {
        try $0.first.account.exists()
      } end: { devices, isDone in
        if !isDone {
          // A beginning that nobody goes on with is left where it is, and another account is made beside it.
          do { try devices.makeAccount() } catch SyncError.accountBegun {
            try devices.makeAccount(isAnother: true)
          }
        }
        try devices.mustSync(devices.first)
        try devices.join()
        try devices.compare(["of the first", "of the second"])
      },
      AccountOperation("account join") {
        try $0.makeAccount()
      } deed: {
        try $0.join()
      } isDone: { devices in
        try devices.second.account.exists() && devices.sync(devices.second) == .complete
      } end: { devices, isDone in
        if !isDone { try devices.join() }
        try devices.compare(["of the first", "of the second"])
      },
      AccountOperation("sync, sending") {
        try $0.link()
        try $0.add("later", to: $0.first)
      } deed: { devices in
        try devices.mustSync(devices.first)
      } isDone: { devices in
        // What is sent is there for the other device, without another run of this one.
        try devices.mustSync(devices.second)
        return try devices.titles(devices.second).contains("later")
      } end: { devices, _ in
        try devices.compare(["of the first", "of the second", "later"])
      },
      AccountOperation("sync, getting") { devices in
        try devices.link()
        try devices.add("later", to: devices.second)
        try devices.mustSync(devices.second)
      } deed: { devices in
        try devices.mustSync(devices.first)
      } isDone: { devices in
        try devices.titles(devices.first).contains("later")
      } end: { devices, _ in
        try devices.compare(["of the first", "of the second", "later"])
      },
    ]
  }

  /// Two coffers, and the folder in which they meet.
  struct Devices {
    let first: Coffer
    let second: Coffer
    let folder: String
    let remote: FolderRemote
    let calendar: Calendar

    /// - Parameters:
    ///   - days: how much later than the beginning of the preparation it is.
    ///   - open: opens a coffer, or makes one, in a folder.
    init(_ home: String, afterDays days: Int64, _ open: (String, VaultClock) throws -> Coffer) throws {
      calendar = Calendar()
      calendar.advance(days: days)
      folder = home + "/stick"
      guard let remote = FolderRemote(path: folder) else { throw DiskError("no absolute path") }
      self.remote = remote
      first = try open(home + "/first", calendar.clock)
      second = try open(home + "/second", calendar.clock)
    }

    func close() {
      first.close()
      second.close()
    }
  }

  /// A clock that stands until it is told of days.
  final class Calendar: Sendable {
    private let seconds = Atomic<Int64>(0)

    func advance(days: Int64) { seconds.add(days * 86_400, ordering: .relaxed) }

    var clock: VaultClock {
      var clock = VaultClock.still
      clock.now = { VaultClock.still.now() + self.seconds.load(ordering: .relaxed) }
      return clock
    }
  }

  // MARK: Scenario

  func prepare(_ home: String) throws {
    try FileManager.default.createDirectory(atPath: home + "/stick", withIntermediateDirectories: false)
    let devices = try Devices(home, afterDays: 0) { try CofferOperation.create($0, clock: $1) }
    defer { devices.close() }
    try devices.add("of the first", to: devices.first)
    try devices.add("of the second", to: devices.second)
    try preparation(devices)
  }

  func operate(_ home: String) throws {
    let devices = try Devices(home, afterDays: days) { try CofferOperation.open($0, clock: $1).coffer }
    defer { devices.close() }
    try deed(devices)
  }

  func judge(_ home: String) throws -> CrashVerdict {
    // In a copy: the judgement is not to do what it looks for.
    try BackedUpCoffer.elsewhere { copy in
      try DiskImage(of: home).write(to: copy)
      let devices = try Devices(copy, afterDays: days) { try CofferOperation.open($0, clock: $1).coffer }
      defer { devices.close() }
      let isDone = try isDone(devices)
      try end(devices, isDone)
      for coffer in [devices.first, devices.second] {
        let diagnosis = try coffer.examine(isDeep: true)
        guard diagnosis.isHealthy else {
          throw CrashFinding.lost(diagnosis.findings.map(\.text).joined(separator: "; "))
        }
      }
      return isDone ? .after : .before
    }
  }
}

extension AccountOperation.Devices {
  func makeAccount(isAnother: Bool = false) throws {
    let synchronizer = try first.account.make(
      at: remote, .folder(path: folder), passphrase: CofferOperation.passphrase(CofferOperation.secrets[0]),
      words: RecoveryPhrase(entropy: SecretBytes(zeroed: RecoveryPhrase.entropyByteCount)),
      costs: Argon2idParameters(memoryKiB: 64, passes: 1, lanes: 1), enclave: SoftwareEnclave(),
      name: "first", isAnother: isAnother)
    guard try synchronizer.run(.sync, at: remote).outcome == .complete else {
      throw CrashFinding.mixed("the first run")
    }
  }

  func join() throws {
    let joined = try second.account.join(
      at: remote, first.account.open().address(), with: Self.secret(), enclave: SoftwareEnclave(),
      name: "second")
    guard joined.report.outcome == .complete, joined.report.alarms.isEmpty else {
      throw CrashFinding.mixed("the run that joins")
    }
  }

  func link() throws {
    try makeAccount()
    try join()
    try mustSync(first)
  }

  static func secret() throws -> AccountSecret {
    AccountSecret(try CofferOperation.passphrase(CofferOperation.secrets[0]))
  }

  /// Runs as the next command does.
  func sync(_ coffer: Coffer) throws -> Outcome {
    let report = try coffer.account.open().run(.sync, at: remote)
    guard report.alarms.isEmpty else { throw CrashFinding.mixed("an alarm: \(report.alarms)") }
    return report.outcome
  }

  func mustSync(_ coffer: Coffer) throws {
    let outcome = try sync(coffer)
    guard outcome == .complete else { throw CrashFinding.mixed("a run ended with \(outcome)") }
  }

  /// Both run until each has what the other has.
  func compare(_ expected: Set<String>) throws {
    for coffer in [first, second, first, second] { try mustSync(coffer) }
    for coffer in [first, second] {
      guard try titles(coffer) == expected else {
        throw CrashFinding.mixed("other messages: \(try titles(coffer).sorted())")
      }
    }
    let words = try [first, second].map { try $0.account.open().status().words }
    guard words[0] == words[1] else { throw CrashFinding.mixed("the histories differ") }
  }

  func add(_ title: String, to coffer: Coffer) throws {
    let text = Array("text".utf8)
    _ = try coffer.addMessage(
      SecretBytes(copying: text.span.bytes),
      metadata: MessageMetadata(title: title, contentType: MessageMetadata.noteType))
  }

  func titles(_ coffer: Coffer) throws -> Set<String> {
    var titles: Set<String> = []
    let unreadable = try coffer.vault.forEachMessage { _, metadata, _ in
      titles.insert(metadata.title)
      return true
    }
    guard unreadable.isEmpty else { throw CrashFinding.lost("\(unreadable.count) messages do not open") }
    try coffer.vault.checkRows()
    return titles
  }
}
