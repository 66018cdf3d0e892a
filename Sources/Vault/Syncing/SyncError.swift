// SPDX-License-Identifier: Apache-2.0

public import Captures
public import Histories
public import Primitives
public import Remotes

/// Why synchronisation failed. How a run ends that came to its end is an ``SyncReport``.
@nonexhaustive
public enum SyncError: Error, Equatable, Sendable {
  /// This coffer has no account.
  case noAccount
  /// This coffer has one already.
  case hasAccount
  /// There is an account at the place; nothing was written.
  case accountThere(Int)
  /// There is the beginning of another account at the place: somebody is making it, or that did not come to its end.
  case accountBegun
  /// What is kept of the account is damaged, or some of it is missing.
  case corrupt
  /// Another process synchronises this coffer.
  case busy
  /// The remote failed; what was acknowledged before is safe.
  case remote(RemoteError)
  /// The account is not at the place, or has no slot there.
  case notThere
  /// No slot of the account opens with it.
  case wrongSecret
  /// No slot that can be read opens with it, and so many at the place are damaged.
  case slotsDamaged(Int)
  /// A slot that was just written reads differently.
  case slotNotReadBack
  /// The remote does not have a part of a capture.
  case partMissing
  /// A capture waits to be sent, or the remote does not show that it has it.
  case notUploaded
  /// Nothing is released while something is wrong at the remote.
  case alarmed(Set<Alarm>)
  /// The user stopped it.
  case stopped
  /// This device asked to be enrolled, and nobody has approved it yet.
  case notApproved
  /// The account has other devices, of these names.
  case otherDevices([String])
  /// What this device lacks would be lost: so many captures that are only at the place, and messages that are nowhere.
  case onlyThere(captures: Int, messages: Int)
  /// A change of the account was refused.
  case refused(Outcome)
}

/// How a run ended.
public struct SyncReport: Sendable {
  public var outcome: Outcome
  /// Messages that came.
  public var newCount = 0
  /// Captures that came.
  public var newCaptureCount = 0
  /// Messages and captures that changed here, or were removed elsewhere.
  public var changedCount = 0
  /// Of these, those that were removed elsewhere.
  public var removed: Set<RecordID> = []
  /// Of these, messages that were changed on several devices at once: all versions are kept, and one is shown.
  public var parallel: Set<RecordID> = []
  /// Messages that were removed here and changed elsewhere at the same time: they are shown again.
  public var returned: Set<RecordID> = []
  /// Changes of this device that were sent.
  public var sentCount = 0
  /// Changes that still wait.
  public var waitingCount = 0
  /// Contents that were put back.
  public var putBackCount = 0
  /// Packs that a sweep deleted.
  public var deletedCount = 0
  /// Versions of messages that cannot be sent, since they do not open here.
  public var onlyHereCount = 0
  /// Contents that other devices have named and that are not at the remote.
  public var missingCount = 0
  /// Objects of other devices that the remote does not have yet, or has damaged.
  public var awaitedCount = 0
  /// Captures of which a part is neither here nor at the remote, as a run of purpose `verify` finds.
  public var lostCaptures: [CaptureID] = []
  /// What is wrong at the remote.
  public var alarms: Set<Alarm> = []
  /// Requests that were answered, and bytes in them.
  public var requestCount = 0
  public var byteCount = 0
  /// Bytes of captures that are to be sent or got, if anything is known of them.
  public var expectedByteCount: Int?
  /// The remote's last error, when the outcome is `Outcome.unreachable`.
  public var remoteError: RemoteError?
  /// Whether the user stopped it before its end; the outcome is `Outcome.unreachable`.
  public var isStopped = false

  /// What came and was sent in an earlier run.
  mutating func add(_ earlier: SyncReport) {
    newCount += earlier.newCount
    newCaptureCount += earlier.newCaptureCount
    changedCount += earlier.changedCount
    sentCount += earlier.sentCount
    putBackCount += earlier.putBackCount
    removed.formUnion(earlier.removed)
    parallel.formUnion(earlier.parallel)
    returned.formUnion(earlier.returned)
  }
}
