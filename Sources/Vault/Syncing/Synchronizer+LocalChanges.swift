// SPDX-License-Identifier: Apache-2.0
//
// What the user changed goes into the history, in batches. What cannot be sent is counted, and stays only here.

internal import Histories
internal import Primitives
internal import Secrets
internal import Vaults

extension Synchronizer {
  /// Brings the user's changes into the history, at most so many new versions at once.
  func takeChanges(limit: Int) throws {
    guard takesLocalChanges else { return try takeEarlyRemovals() }
    let digest = try localDigest()
    if digest != (changes.digest.isEmpty ? state.vaultDigest : changes.digest) {
      changes = try LocalChanges(vault, contents)
      captureChanges = try LocalCaptureChanges(history, contents.captures)
      changes.note(digest: digest)
      state.onlyHereCount = 0
      removeFromHistory(changes.removed)
      for (row, standing) in changes.standings { contents.setStanding(row, standing) }
      for row in changes.gone { contents.remove(row) }
      for capture in captureChanges.removed { removeFromHistory(capture) }
    } else if changes.digest.isEmpty {
      changes.note(digest: digest)
    }
    while changes.hasFresh, history.waitingCount < limit, contents.framesByteCount < Self.batchByteCount {
      try takeFresh(changes.takeFresh(min(500, limit - history.waitingCount)))
    }
    // Whole photos are hashed: other commands wait meanwhile.
    var byteCount = 0
    while history.waitingCount < limit, byteCount < Self.captureBatchByteCount,
      let capture = captureChanges.takeFresh()
    { byteCount += try takeFresh(capture) }
    while history.waitingCount < limit, let capture = captureChanges.takeRelabelled() {
      try takeLabel(of: capture)
    }
  }

  /// What came here before a join ended early, and was removed since, was seen. All else waits until everything is here.
  private func takeEarlyRemovals() throws {
    guard !history.awaitsKeys, !hasTakenEarlyRemovals else { return }
    removeFromHistory(try LocalChanges(vault, contents).removed)
    hasTakenEarlyRemovals = true
  }

  /// How many changes wait that the history does not know.
  func countFresh() throws -> Int {
    guard !takesLocalChanges else { return changes.freshCount + captureChanges.freshCount }
    return try LocalChanges(vault, contents).freshCount
      + LocalCaptureChanges(nil, contents.captures).count
  }

  /// Tells the history of messages that are not shown here any more. What their user had not seen stays.
  private func removeFromHistory(_ messages: Set<MessageID>) {
    for (message, versions) in history.shownVersions(of: messages) {
      let seen = versions.map(\.version).filter { version in
        contents.row(of: RecordVersion(record: message, version: version)).map {
          contents.rows[$0]?.standing != nil
        } ?? false
      }
      guard !seen.isEmpty else { continue }
      _ = history.step(.remove(record: message, versions: Set(seen), at: now), on: &machine)
    }
  }

  /// Changes that cannot be sent; damaged captures, of which nobody knows how many there are, are one.
  func onlyHereCount() throws -> Int { Int(state.onlyHereCount) + (try captures.captures() == nil ? 1 : 0) }

  /// A change that cannot be sent.
  func noteOnlyHere() { state.onlyHereCount += 1 }

  /// Versions that could not be sent, since their rows do not open any more. The history forgets what was never sent, as if
  /// the row had been damaged before it was looked at: it is compared again with all others.
  func noteUnreadable(_ versions: Set<RecordVersion>) {
    for version in versions {
      if history.isShared(version) {
        lost.insert(version)
      } else if let row = contents.row(of: version) {
        contents.remove(row)
        noteOnlyHere()
      } else if let entry = captures.known[version] {
        captures.remove(entry)
        // A label that the user changed again is in no segment, and need not be.
        if entry.kind != .otherLabel { noteOnlyHere() }
      }
    }
  }

  /// The versions of a message that rows are: of each row its own, and what is shown of those that have the same content.
  private func versions(of message: MessageID, in rows: [MessageID]) -> Set<Version> {
    var versions: Set<Version> = []
    for row in rows {
      let entries = contents.entries(of: row)
      guard let own = entries.first, own.message == message else { continue }
      versions.insert(own.version)
      if entries.count == 1 { continue }
      let shown = Set(history.shownVersions(of: message).map(\.version))
      versions.formUnion(entries.map(\.version).filter(shown.contains))
    }
    return versions
  }

  private func takeFresh(_ rows: [MessageID]) throws {
    let stored = try vault.rows(named: rows)
    var opened: [FreshRow] = []
    var (openCount, byteCount) = (0, contents.framesByteCount)
    // A row that does not open is named by `doctor`; it cannot be sent.
    let closed = try vault.withFrames(rows) { row, frame in
      if let facts = VersionRow.facts(of: frame, row: row) {
        let (first, hashes) = SentFrame.parts(row: row, frame: frame)
        opened.append(
          FreshRow(
            row: row, message: facts.message, replaced: facts.replaced, first: first, hashes: hashes,
            byteCount: frame.byteCount))
      } else {
        noteOnlyHere()
      }
      openCount += 1
      byteCount += frame.byteCount
      return byteCount < Self.batchByteCount
    }
    if byteCount >= Self.batchByteCount { changes.putBack(rows.dropFirst(openCount + closed.count)) }
    state.onlyHereCount += Int64(closed.count)
    let siblings = try vault.rows(ofMessages: Set(opened.filter { $0.row != $0.message }.map(\.message)))
    for fresh in opened {
      let (row, message) = (fresh.row, fresh.message)
      // A coffer that joins, or joins again, has what the account has.
      if contents.rows[row] == nil, let version = history.version(of: message, with: fresh.hashes) {
        contents.set(
          row, KnownRow(message: message, version: version, standing: stored[row]?.standing ?? .shown))
        matched.insert(message)
        continue
      }
      var earlier = fresh.replaced
      if stored[row]?.standing == .shown {
        // What came later was not seen by whoever stored this one.
        earlier += (siblings[message] ?? []).prefix { $0.id != row }.filter { $0.standing == .replaced }.map(
          \.id)
      }
      let versions = versions(of: message, in: earlier)
      let effects = history.step(
        .add(
          record: message, frame: fresh.first, further: Array(fresh.hashes.dropFirst()),
          replacing: Array(versions), at: UInt64(clamping: stored[row]?.stored ?? 0)),
        on: &machine)
      guard case .keep(let content, _)? = effects.first else {
        noteOnlyHere()
        continue
      }
      let version = content.version
      // What came before the user's own change was looked at.
      if history.shownVersions(of: message).count > 1 { report.parallel.insert(message) }
      contents.keep(fresh.first, of: version, byteCount: fresh.byteCount)
      contents.set(
        row,
        KnownRow(message: message, version: version.version, standing: stored[row]?.standing ?? .shown))
    }
  }
}
