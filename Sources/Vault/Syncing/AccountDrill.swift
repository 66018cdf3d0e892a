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
  /// Contents that no pack has.
  public let missingCount: Int

  init(
    _ remote: any Remote, _ address: AccountAddress, slot: OpenedSlot, now: UInt64,
    progress: (SyncReport) -> Bool
  ) throws {
    let enclave = SoftwareEnclave()
    let access = AccessControl(.whenUnlockedThisDeviceOnly)
    let keys = DeviceKeys(
      pair: .first, enclave: enclave,
      signing: try enclave.createKey(use: .signing, access: access, enrolment: KeyEnrolment()),
      agreement: try enclave.createKey(use: .agreement, access: access, enrolment: KeyEnrolment()))
    var machine = DeviceMachine(keys: keys, contents: VaultContents(nil))
    let entry = DeviceEntry(
      id: DeviceID(beginningOf: machine.random(DeviceID.byteCount)), signingKey: keys.signing.publicKey,
      agreementKey: keys.agreement.publicKey, level: keys.level, name: "drill", replaces: nil)
    var history = History(joining: address.account, entry: entry)
    var requests = RemoteRequests(remote, account: address.account, isReadOnly: true)
    var report = SyncReport(outcome: .unreachable)
    /// Carries out an event with all that follows from it.
    func perform(_ event: Event) throws -> Outcome {
      var events = [event]
      var outcome: Outcome?
      while let event = events.popLast() {
        for effect in history.step(event, on: &machine) {
          switch effect {
          case .keep(let content, _):
            if content.part == 0 { report.newCount += 1 }
            machine.contents.noteCompared(content)
          case .drop, .carry: break
          case .request(let request):
            events.append(.answer(request, requests.answer(request), at: now))
            report.requestCount = requests.count
            report.byteCount = requests.byteCount
            guard progress(report) else { throw SyncError.refused(.unreachable) }
          case .ended(let end): outcome = end
          }
        }
      }
      if outcome == .unreachable, let error = requests.lastError { throw SyncError.remote(error) }
      return outcome ?? .unreachable
    }
    _ = try perform(.begin(.sync, at: now))
    guard history.isThere else { throw SyncError.notThere }
    let outcome = try perform(.account(.approve(entry), slot, at: now))
    guard outcome == .complete else { throw SyncError.refused(outcome) }
    _ = try perform(.begin(.sync, at: now))
    digest = history.stateDigest()
    messageCount = history.shownRecords.count
    missingCount = history.missingContentCount
  }
}
