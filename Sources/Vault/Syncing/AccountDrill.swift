// SPDX-License-Identifier: Apache-2.0
//
// A restore that stores nothing: everything is got, opened and compared, and forgotten.

public import Histories
internal import Enclaves
internal import Primitives
internal import Remotes
internal import Secrets

/// What a restore would bring.
public struct AccountDrill: Sendable {
  /// The digest of all records.
  public let digest: StateDigest
  /// Messages that are shown.
  public let messageCount: Int
  /// Captures that are shown.
  public let captureCount: Int
  /// Contents that no pack has.
  public let missingCount: Int

  init(
    _ remote: any Remote, _ address: AccountAddress, slot: OpenedSlot,
    choices: [(at: ControlID, on: ControlID)], now: UInt64,
    progress: (SyncReport) -> Bool
  ) throws {
    let enclave = SoftwareEnclave()
    let access = AccessControl(.whenUnlockedThisDeviceOnly)
    let keys = DeviceKeys(
      pair: .first, enclave: enclave,
      signing: try enclave.createKey(use: .signing, access: access, enrolment: KeyEnrolment()),
      agreement: try enclave.createKey(use: .agreement, access: access, enrolment: KeyEnrolment()))
    var machine = DeviceMachine(keys: keys, contents: VaultContents(nil, nil))
    let entry = DeviceEntry(
      id: DeviceID(beginningOf: machine.random(DeviceID.byteCount)), signingKey: keys.signing.publicKey,
      agreementKey: keys.agreement.publicKey, level: keys.level, name: "drill", replaces: nil)
    var history = History(joining: address.account, entry: entry)
    let queue = RequestQueue(RemoteRequests(remote, account: address.account, isReadOnly: true))
    var report = SyncReport(outcome: .unreachable)
    /// Carries out an event with all that follows from it.
    func perform(_ event: Event) throws -> Outcome {
      var next: Event? = event
      var outcome: Outcome?
      while let event = next {
        var requests: [Request] = []
        for effect in history.step(event, on: &machine) {
          switch effect {
          case .keep(let content, _):
            if content.part == 0 { report.newCount += 1 }
            machine.contents.noteCompared(content)
          case .drop, .carry: break
          case .request(let request): requests.append(request)
          case .ended(let end): outcome = end
          }
        }
        queue.add(requests)
        next = nil
        guard let request = queue.next else { continue }
        next = .answer(request, queue.answerNext(), at: now)
        report.requestCount = queue.count
        report.byteCount = queue.byteCount
        guard progress(report) else { throw SyncError.refused(.unreachable) }
      }
      if outcome == .unreachable, let error = queue.lastError { throw SyncError.remote(error) }
      return outcome ?? .unreachable
    }
    _ = try perform(.begin(.sync, at: now))
    guard history.isThere else { throw SyncError.notThere }
    // Only a member may do this; the slot opens the log.
    if !choices.isEmpty { _ = try perform(.account(.handOutKeys, slot, at: now)) }
    while let fork = history.ownerFork, let choice = choices.first(where: { $0.at == fork.at }) {
      _ = try perform(.account(.settle(at: choice.at, on: choice.on), slot, at: now))
      guard history.ownerFork?.at != fork.at else { break }
    }
    let outcome = try perform(.account(.approve(entry), slot, at: now))
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    // Lists packs too.
    _ = try perform(.begin(.verify, at: now))
    digest = history.stateDigest()
    (messageCount, captureCount) = history.shownCounts
    let broken = try Self.brokenCaptures(history, remote, after: report, progress)
    missingCount = history.missingContentCount + history.lostElsewhere.union(broken).count
  }

  /// Reads the further parts of all captures, which no run gets unasked.
  /// - Returns: captures of which the remote does not have every part, or has one damaged.
  private static func brokenCaptures(
    _ history: History, _ remote: any Remote, after report: SyncReport, _ progress: (SyncReport) -> Bool
  ) throws -> Set<RecordID> {
    let parts = history.shownRecords.sorted().flatMap { record in
      history.shownVersions(of: record).filter { $0.kind == .capture }.flatMap { shown in
        (1..<max(shown.hashes.count, 1)).map {
          ContentName(RecordVersion(record: record, version: shown.version), part: UInt16($0))
        }
      }
    }
    return try withoutActuallyEscaping(progress) { progress in
      var reader = PackReader(history, remote, expecting: parts, byteCount: nil) { more in
        var sum = report
        sum.requestCount += more.requestCount
        sum.byteCount += more.byteCount
        return progress(sum)
      }
      var broken: Set<RecordID> = []
      for part in parts {
        do { _ = try reader.read(part) } catch SyncError.partMissing { broken.insert(part.version.record) }
      }
      return broken
    }
  }
}
