// SPDX-License-Identifier: Apache-2.0
//
// Drives a history: what the user changed goes in, requests go to the remote and their answers in, and what follows is
// stored in one transaction with the vault's rows. A step that asks for something is on the disk before the request is
// sent. The writer's lock is taken for one step at a time and never held over a request, so that other commands go on.

internal import Captures
public import Histories
internal import Keychains
internal import Primitives
public import Remotes
internal import Secrets
internal import Storage
internal import Vaults

/// Keeps a coffer and its account equal. Not for use from several threads.
public final class Synchronizer {
  let file: DatabaseFile
  let vault: Vault
  let items: AccountItems
  private let store: SyncStore
  private let clock: VaultClock
  var machine: DeviceMachine
  var history: History
  var state: SyncState
  var changes = LocalChanges()
  var captureChanges = LocalCaptureChanges()
  /// Of the run under way, or of the last one.
  var report = SyncReport(outcome: .unreachable)
  /// Messages of which rows were found in the history, so that their standing may be another one.
  var matched: Set<MessageID> = []
  /// Versions of the account whose contents the remote has lost and do not open here, as the run under way found.
  var lost: Set<RecordVersion> = []
  /// The keys of epochs that are in the keychain.
  private var storedEpochs = 0
  /// Whether what the user changed is looked for. A coffer that joins takes what is there first.
  private(set) var takesLocalChanges: Bool
  /// Whether, before that, the removals were looked for that are later than a join that ended early.
  var hasTakenEarlyRemovals = false

  /// Told of each change of the account that an opened slot allowed, right before it is written to the disk: of one that is
  /// there, whoever keeps a log has a line, whatever becomes of the process and of the run that tells the other devices.
  public var changed: (AccountChange) -> Void = { _ in }

  var contents: VaultContents { machine.contents }

  /// Changes that are read and sealed at once.
  static let batchCount = 4_000
  static let batchByteCount = 16 << 20
  /// Captures that are hashed at once: some more than one segment takes.
  static let captureBatchByteCount = 64 << 20

  init(
    file: DatabaseFile, vault: Vault, items: AccountItems, store: SyncStore, clock: VaultClock,
    machine: DeviceMachine, history: History, state: SyncState, storedEpochs: Int
  ) {
    self.file = file
    self.vault = vault
    self.items = items
    self.store = store
    self.clock = clock
    self.machine = machine
    self.history = history
    self.state = state
    self.storedEpochs = storedEpochs
    takesLocalChanges = !history.awaitsKeys && !Self.isNewcomer(history)
  }

  /// Whether this device may not have taken what the others said before it joined: it has said nothing yet.
  private static func isNewcomer(_ history: History) -> Bool {
    history.devices.count > 1 && history.devices.first { $0.isThisDevice }?.lastNews == nil
  }

  var now: UInt64 { UInt64(clamping: clock.now()) }

  // MARK: Runs

  /// Gets what is new and sends what waits.
  /// - Parameters:
  ///   - purpose: what else it does; a sweep has a function of its own.
  ///   - remote: where the account is.
  ///   - progress: called after each request; false stops, and the next run goes on.
  /// - Throws: `StorageError`, `VaultError`, `EnclaveError`, ``SyncError/corrupt``. After an error this value must not be
  ///   used again: what is on the disk is right.
  public func run(
    _ purpose: Purpose, at remote: any Remote, progress: (SyncReport) -> Bool = { _ in true }
  ) throws -> SyncReport {
    precondition(purpose != .sweep, "somebody has to allow what a sweep deletes")
    var report = try run(purpose, at: remote, deletes: { _ in false }, progress: progress)
    // A device that has joined has everything now, and the others get what it had before. Captures that the account has
    // already end a run before all are looked at: each step hashes so many bytes.
    while report.outcome == .complete, !takesLocalChanges || captureChanges.freshCount > 0 {
      takesLocalChanges = true
      let earlier = report
      report = try run(purpose, at: remote, deletes: { _ in false }, progress: progress)
      report.add(earlier)
    }
    return report
  }

  /// - Parameter deletes: whether these packs may be deleted; asked once, before the first of them is.
  func run(
    _ purpose: Purpose, at remote: any Remote, deletes: (DeadPacks) throws -> Bool,
    progress: (SyncReport) -> Bool
  ) throws -> SyncReport {
    report = SyncReport(outcome: .unreachable)
    report.expectedByteCount = try byteCountOfUploads()
    lost = []
    let queue = RequestQueue(RemoteRequests(remote, account: history.account))
    // What came while captures were damaged here was not carried out.
    if purpose != .sync { matched.formUnion(captures.versions.keys) }
    var (requests, outcome) = try carryOut(.begin(purpose, at: now))
    queue.add(requests)
    try noteUploadsBegin()
    var mayDelete = false
    while outcome == nil, let request = queue.next {
      if case .delete = request, !mayDelete {
        mayDelete = try deletes(DeadPacks(queue.all, history))
        guard mayDelete else {
          outcome = .complete
          break
        }
        // The question may have stood for long: what another process has taken in since decides.
        try alone {}
      }
      let answer = queue.answerNext()
      if case (.delete, .done) = (request, answer) { report.deletedCount += 1 }
      report.requestCount = queue.count
      report.byteCount = queue.byteCount
      guard progress(report) else {
        report.isStopped = true
        break
      }
      (requests, outcome) = try carryOut(.answer(request, answer, at: now))
      queue.add(requests)
    }
    report.outcome = outcome ?? .unreachable
    try noteUploadsEnd(isComplete: report.outcome == .complete)
    report.remoteError = queue.lastError
    report.alarms = history.alarms
    report.awaitedCount = history.awaitedCount
    report.waitingCount = try history.waitingCount + countFresh()
    // A device that has stopped has asked for no content.
    report.missingCount = history.stop == nil ? history.missingContentCount + lost.count : 0
    report.onlyHereCount = try onlyHereCount()
    report.lostCaptures = history.lostElsewhere.sorted()
    if report.outcome == .complete, purpose == .sync || history.alarms.isEmpty {
      state.lastComplete = clock.now()
    }
    try alone { try save([]) }
    return report
  }

  /// Carries out a change of the account that an opened slot allows. The next run sends it.
  func change(_ change: AccountChange, with slot: OpenedSlot) throws -> Outcome {
    try carryOut(.account(change, slot, at: now)) { outcome in
      guard outcome ?? .complete == .complete else { return }
      try noteTold(of: change)
      // A choice may stand although this outcome is another one: see `noteSettled`.
      if case .settle = change { return }
      changed(change)
    }.outcome ?? .complete
  }

  func note(damaged: Set<ObjectHash>) { history.noteDamaged(damaged) }

  /// How many changes wait, those that no run has seen included, and those of the account.
  public func countWaiting() throws -> Int {
    try alone { try takeChanges(limit: 0) }
    return try history.waitingCount + countFresh() + history.untoldOperationCount
  }

  // MARK: Steps

  /// One step, stored with all that follows from it.
  /// - Parameter noting: called right before it is stored.
  @discardableResult
  func carryOut(
    _ event: Event, noting: (Outcome?) throws -> Void = { _ in }
  ) throws -> (requests: [Request], outcome: Outcome?) {
    try alone {
      try takeChanges(limit: Self.batchCount)
      var (requests, outcome) = ([Request](), Outcome?.none)
      var (arrivals, captureArrivals) = (Arrivals(), CaptureArrivals())
      var came: Set<RecordID> = []
      var arrived: [Arrived] = []
      for effect in history.step(event, on: &machine) {
        switch effect {
        case .keep(let content, let frame):
          came.insert(content.version.record)
          switch history.kind(of: content.version) {
          case .capture:
            try captureArrivals.takeCapture(
              frame, of: content.version, partCount: history.hashes(of: content.version)?.count ?? 0,
              contents.captures)
          case .label: captureArrivals.takeLabel(frame, of: content.version, contents.captures)
          case .message, nil: if let all = arrival(of: content, frame) { arrived.append(all) }
          }
        case .carry(let former, let version):
          // What it carries may have come in this step.
          try arrivals.take(arrived, contents: contents, vault: vault)
          arrived = []
          contents.carry(former, to: version)
          came.insert(version.record)
        case .drop(let record, let version):
          // The vault keeps earlier versions as long as their message, and empties its trash itself.
          contents.forgetParts(of: RecordVersion(record: record, version: version))
          if history.isDead(record, at: now) { try captureArrivals.erase(record, history, contents.captures) }
        case .request(let request): requests.append(request)
        case .ended(let end): outcome = end
        }
      }
      try arrivals.take(arrived, contents: contents, vault: vault)
      try machine.checkStep()
      noteUnreadable(history.takeUnreadable())
      let records = history.takeTouched().union(came).union(matched)
      try arrivals.settle(records, history, contents, vault)
      try captureArrivals.settle(records, history, contents.captures)
      for version in captureArrivals.unusable { arrivals.takeUnusable(version, contents) }
      matched = []
      try noting(outcome)
      let puts = requests.contains { if case .put = $0 { true } else { false } }
      try save(arrivals.changes, captureArrivals.changes, always: puts)
      report.newCount += arrivals.newCount
      report.changedCount += arrivals.changedCount + captureArrivals.changedCount
      report.removed.formUnion(arrivals.removed.union(captureArrivals.removed))
      report.parallel.formUnion(arrivals.parallel)
      report.returned.formUnion(arrivals.returned)
      report.newCaptureCount += captureArrivals.newCount
      return (requests, outcome)
    }
  }

  /// A content of a message came, or a part of it.
  /// - Returns: all parts, if this was the last of them.
  private func arrival(of content: ContentName, _ frame: SharedSecretBytes) -> Arrived? {
    let name = content.version
    let parts = contents.take(frame, of: content, partCount: history.wantedPartCount(of: name) ?? 1)
    return parts.map {
      Arrived(
        version: name, parts: $0, storedAt: history.storedAt(name.record, name.version) ?? now)
    }
  }

  /// Runs `body` while nobody else writes. Another command may take long, and a run can wait.
  /// - Throws: `SyncError.busy` when another process has carried this history on.
  func alone<R>(_ body: () throws -> R) throws -> R {
    try file.withWriting(tries: 60) {
      // Asked at each step; the state as a whole is verified when it is saved.
      guard try file.read(store.seal) == state.seal else { throw SyncError.busy }
      return try body()
    }
  }

  /// Stores the history, the vault's rows and the captures, if anything must be.
  func save(_ rows: [RowChange], _ captures: [SharedChange] = [], always: Bool = true) throws {
    let objects = history.takeNewObjects()
    guard always || !objects.isEmpty || !rows.isEmpty || !captures.isEmpty || contents.hasChanges else {
      return
    }
    for case .segment(let name) in objects.map(\.name)
    where name.device == history.device && !history.isOfAnotherCopy(name) {
      report.sentCount += history.operationCount(of: name)
      report.putBackCount += history.placeCount(of: name)
    }
    let keys = history.epochKeys
    if keys.count != storedEpochs {
      try items.save(keys)
      storedEpochs = keys.count
    }
    var next = state
    next.local = history.localState()
    if rows.isEmpty, captures.isEmpty {
      next.vaultDigest = knownDigest(changes.digest)
      try file.write(.account) { try store.save(&next, objects: objects, contents: contents, $0) }
    } else {
      let digest = try apply(rows, captures) { transaction, digest in
        next.vaultDigest = knownDigest(digest)
        try file.join(.account, transaction) {
          try store.save(&next, objects: objects, contents: contents, $0)
        }
      }
      if takesLocalChanges { changes.note(digest: digest) }
    }
    state = next
    contents.noteStored()
    if history.waitingCount == 0 { contents.forgetFrames() }
  }

  /// The digest that says next time that nothing has to be compared; empty if something has.
  private func knownDigest(_ digest: [UInt8]) -> [UInt8] {
    changes.hasFresh || captureChanges.freshCount > 0 || !takesLocalChanges ? [] : digest
  }
}
