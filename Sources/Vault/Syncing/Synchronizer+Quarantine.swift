// SPDX-License-Identifier: Apache-2.0
//
// What a revocation cut off, as its user looks through it and takes some of it in: that becomes a change of this device.

internal import Captures
public import Histories
public import Primitives
public import Remotes
internal import Secrets
public import Vaults

/// One change that a revocation cut off.
public struct QuarantinedChange: Sendable {
  public enum Kind: Hashable, Sendable {
    /// A version of a message that has no effect.
    case version
    /// A removal that has no effect: the message is there.
    case removal
    /// A capture that has no effect.
    case capture
    /// A removal of a capture, which is there.
    case captureRemoval
  }

  public let kind: Kind
  public let device: DeviceID
  /// What that device was called.
  public let deviceName: String
  /// Of the segment in which it came.
  public let number: UInt64
  /// By the server's clock where there is one, else when this device took it; seconds since 1970.
  public let cameAt: Int64
  public let message: MessageID
  /// As its author says, in seconds since 1970; nil of a removal.
  public let storedAt: Int64?
  /// Nil when the content is not here, or has none.
  public let title: String?
}

/// What became of versions that were to be taken in.
public struct QuarantineTaking: Sendable {
  /// Messages of which a version was taken in.
  public internal(set) var taken: [MessageID] = []
  /// Those whose content is neither here nor at the remote, or is nothing that a vault stores.
  public internal(set) var unreadable: [MessageID] = []
  /// Whether the user stopped it before its end.
  public internal(set) var isStopped = false
}

/// Where contents are got that are not here.
struct ContentSource {
  let remote: () throws -> any Remote
  /// Called after each request; false stops.
  let progress: (SyncReport) -> Bool
}

extension QuarantinedChange.Kind {
  /// Whether it brought something, which can be taken in.
  public var isAddition: Bool { self == .version || self == .capture }
}

extension Synchronizer {
  /// Whether only what was cut off ever brought a message or capture, and nothing of it is shown.
  public func isOnlyCutOff(_ message: MessageID) -> Bool {
    history.shownVersions(of: message).isEmpty
      && !history.versions(of: message).contains {
        history.isShared(RecordVersion(record: message, version: $0))
      }
  }

  /// How many changes a revocation cut off that would change something.
  public var quarantinedCount: Int {
    quarantinedSegments.reduce(0) { $0 + $1.versions.count + $1.removed.count }
  }

  /// What revocations cut off, each device's in the order in which it was sent.
  public func quarantine() throws -> [QuarantinedChange] {
    let segments = quarantinedSegments
    var rows: [MessageID] = []
    for segment in segments {
      rows += segment.versions.compactMap { rowWithContent(of: $0.version) }
      rows += segment.removed.compactMap(shownRow)
    }
    let titles = try titles(of: rows)
    // Hidden ones, too. While captures are damaged, nothing is said of them.
    let labels = try (captures.captures() ?? [:]).mapValues(\.label.title).filter { !$0.value.isEmpty }
    return segments.flatMap { segment in
      func change(
        _ kind: QuarantinedChange.Kind, _ message: MessageID, storedAt: UInt64?, row: MessageID?
      ) -> QuarantinedChange {
        QuarantinedChange(
          kind: kind, device: segment.name.device, deviceName: segment.deviceName,
          number: segment.name.number, cameAt: Int64(clamping: segment.cameAt), message: message,
          storedAt: storedAt.map { Int64(clamping: $0) }, title: row.flatMap { titles[$0] } ?? labels[message]
        )
      }
      return segment.versions.map { version, storedAt in
        let kind: QuarantinedChange.Kind = history.kind(of: version) == .capture ? .capture : .version
        return change(kind, version.record, storedAt: storedAt, row: rowWithContent(of: version))
      }
        + segment.removed.map { record in
          let isCapture = history.shownVersions(of: record).first?.kind == .capture
          return change(
            isCapture ? .captureRemoval : .removal, record, storedAt: nil, row: shownRow(of: record))
        }
    }
  }

  /// Labels go with their captures.
  private var quarantinedSegments: [QuarantinedSegment] {
    history.quarantine.compactMap { segment in
      segment.keeping(
        versions: { history.kind(of: $0) != .label },
        removed: { history.shownVersions(of: $0).first?.kind != .label })
    }
  }

  private func rowWithContent(of version: RecordVersion) -> MessageID? {
    contents.row(of: version).flatMap { contents.rows[$0]?.standing == nil ? nil : $0 }
  }

  /// The titles of rows.
  func titles(of rows: [MessageID]) throws -> [MessageID: String] {
    var titles: [MessageID: String] = [:]
    _ = try vault.withFrames(rows) { row, frame in
      titles[row] = VersionRow.title(of: frame)
      return true
    }
    return titles
  }

  func shownRow(of message: MessageID) -> MessageID? {
    history.shownVersions(of: message).lazy.compactMap { shown in
      self.rowWithContent(of: RecordVersion(record: message, version: shown.version))
    }.first
  }

  // MARK: Taking in

  /// Makes the latest version of each message that was cut off a version of this device. The next run sends it.
  /// - Parameters:
  ///   - messages: those of which one was cut off; others are passed over.
  ///   - remote: opened when a content is not here.
  ///   - progress: called after each request; false stops, and what was got until then is taken in.
  /// - Throws: `SyncError.remote`, `.busy`; `StorageError`, `VaultError`.
  public func takeFromQuarantine(
    _ messages: [MessageID], at remote: @escaping () throws -> any Remote,
    progress: @escaping (SyncReport) -> Bool = { _ in true }
  ) throws -> QuarantineTaking {
    let wanted = Set(messages)
    var latest: [MessageID: RecordVersion] = [:]
    for (version, _) in history.quarantine.flatMap(\.versions) where wanted.contains(version.record) {
      latest[version.record] = max(latest[version.record] ?? version, version)
    }
    var taking = QuarantineTaking()
    var batch: [Taken] = []
    let source = ContentSource(remote: remote, progress: progress)
    do {
      for message in messages {
        guard let version = latest.removeValue(forKey: message) else { continue }
        if history.kind(of: version) == .capture {
          let isTaken = try takeCapture(version, from: source)
          isTaken ? taking.taken.append(message) : taking.unreadable.append(message)
          continue
        }
        guard let parts = try parts(of: version, from: source), try isUsable(parts, version) else {
          taking.unreadable.append(message)
          continue
        }
        batch.append(Taken(version: version, parts: parts))
        if batch.reduce(0, { $0 + $1.byteCount }) >= Self.batchByteCount { try take(&batch, &taking) }
      }
    } catch SyncError.stopped {
      taking.isStopped = true
    }
    try take(&batch, &taking)
    return taking
  }

  /// A version that is taken in, with all parts of its content.
  private struct Taken {
    let version: RecordVersion
    let parts: [SharedSecretBytes]

    var byteCount: Int { parts.reduce(0) { $0 + $1.count } }
  }

  /// All parts of a content; nil if one of them is nowhere.
  private func parts(
    of version: RecordVersion, from source: ContentSource
  ) throws -> [SharedSecretBytes]? {
    var parts: [SharedSecretBytes] = []
    for part in 0..<UInt16(history.wantedPartCount(of: version) ?? 1) {
      guard let found = try content(ContentName(version, part: part), from: source) else { return nil }
      parts.append(found)
    }
    return parts
  }

  func content(_ content: ContentName, from source: ContentSource) throws -> SharedSecretBytes? {
    if let frame = contents.frame(of: content) { return frame }
    guard !history.packs(holding: content).isEmpty else { return nil }
    var reader = PackReader(history, try source.remote(), expecting: [], byteCount: nil, source.progress)
    do { return try reader.read(content) } catch SyncError.partMissing { return nil }
  }

  /// Whether the vault can store a content under its own name: who sent it was a member, and may be a bad one.
  private func isUsable(_ sent: [SharedSecretBytes], _ version: RecordVersion) throws -> Bool {
    guard let frame = SentFrame(sent),
      let facts = frame.frame.withBytes({ VersionRow.facts(of: $0, row: frame.row) }),
      facts.message == version.record
    else { return false }
    if let known = contents.rows[frame.row] {
      return known.message == version.record && known.standing != nil
    }
    return try vault.rows(named: [frame.row])[frame.row].map { $0.message == version.record } ?? true
  }

  /// One transaction: the changes that wait, and the rows as they are shown.
  private func take(
    _ batch: inout [Taken], _ taking: inout QuarantineTaking
  ) throws {
    guard !batch.isEmpty else { return }
    try alone {
      try takeChanges(limit: Self.batchCount)
      var arrivals = Arrivals()
      var records: Set<RecordID> = []
      for taken in batch {
        let record = taken.version.record
        let seen = history.shownVersions(of: record).map(\.version).filter {
          rowWithContent(of: RecordVersion(record: record, version: $0)) != nil
        }
        let storedAt = history.storedAt(record, taken.version.version) ?? now
        let effects = history.step(
          .add(
            record: record, frame: taken.parts[0],
            further: taken.parts.dropFirst().map { FrameHash(hashing: $0) }, replacing: seen, at: storedAt),
          on: &machine)
        guard case .keep(let content, _)? = effects.first else {
          taking.unreadable.append(record)
          continue
        }
        contents.keep(taken.parts[0], of: content.version, byteCount: taken.byteCount)
        // At once: another version of the same message may follow, and replaces this one.
        try arrivals.take(
          [Arrived(version: content.version, parts: taken.parts, storedAt: storedAt)], contents: contents,
          vault: vault)
        records.insert(record)
        taking.taken.append(record)
      }
      try machine.checkStep()
      try arrivals.settle(history.takeTouched().union(records), history, contents, vault)
      try save(arrivals.changes)
    }
    batch = []
  }
}
