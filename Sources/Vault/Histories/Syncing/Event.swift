// SPDX-License-Identifier: Apache-2.0
//
// What happens to a history, and what it asks for. A step is one transaction: the driver stores the new history and
// carries out `keep` and `drop` in it, and sends the requests after that. A crash loses the requests, never half a step.

public import Primitives
public import Secrets

/// Something that happened. All times are seconds since 1970 by this device's clock.
public enum Event: Sendable {
  /// The user stored a message or capture, or a new version of one that replaces these. Of a content in several parts, `frame` is
  /// the first and `further` the hashes of the others, which the machine has after this step.
  case add(
    kind: RecordKind = .message, record: RecordID, frame: SharedSecretBytes, further: [FrameHash] = [],
    replacing: [Version], at: UInt64)
  /// The user removed what is shown of a record; of a user who had not seen all of it, these versions alone.
  case remove(record: RecordID, versions: Set<Version>?, at: UInt64)
  /// The user starts a run. A run that is under way is given up.
  case begin(Purpose, at: UInt64)
  /// A request was answered.
  case answer(Request, Answer, at: UInt64)
  /// The user opened a slot and asks for a change of the account.
  case account(AccountChange, OpenedSlot, at: UInt64)
  /// The user says that held removals and replacements of a device are right.
  case confirm(DeviceID, at: UInt64)
}

/// What a run is for.
public enum Purpose: Hashable, Sendable {
  /// Get what is new, send what waits.
  case sync
  /// As `sync`, with all blocks listed, everything compared, and everything put back that this device has.
  case verify
  /// As `verify`, then delete packs whose entries are all dead.
  case sweep
}

/// A change that only the owner of the account can make.
public enum AccountChange: Sendable {
  /// A device that asked to be enrolled, after its fingerprint was compared.
  case approve(DeviceEntry)
  case addSlot(SlotEntry)
  /// Devices leave. Segments that are here count, unless heads are given.
  case revoke([DeviceID], heads: [SegmentName]?)
  /// Slots leave, others come, and the owner key changes; with a secret, that of the account's URL too. Who changes it
  /// removes all slots that need the former one.
  case replaceSlots(removing: [SlotID], adding: [SlotEntry], urlSecret: SharedSecretBytes? = nil)
  /// This device gets a new identifier and leaves the old one.
  case rejoin(DeviceEntry)
  /// Everybody gets a new epoch's key, and the former ones.
  case handOutKeys
  /// The owner key forked, and the user says which branch is right; or says later that another one is.
  case settle(at: ControlID, on: ControlID)
}

/// A slot of the account that was opened: its keys.
public struct OpenedSlot: Sendable {
  public let id: SlotID
  public let agreement: KeyPair
  /// The owner key when the slot was made.
  public let owner: KeyPair
  /// The last control operation that was known when the slot was made.
  public let anchor: ControlID?

  public init(id: SlotID, agreement: KeyPair, owner: KeyPair, anchor: ControlID?) {
    self.id = id
    self.agreement = agreement
    self.owner = owner
    self.anchor = anchor
  }
}

/// One of the five requests that a remote answers.
public enum Request: Hashable, Sendable {
  case list(Folder)
  case get(ObjectName)
  case put(ObjectName, [UInt8])
  case stat(ObjectName)
  case delete(ObjectName)

  /// By kind and name alone: an object may have megabytes, and its hash is in its name.
  public func hash(into hasher: inout Hasher) {
    let (kind, name): (UInt8, ObjectName)
    switch self {
    case .list(let folder):
      hasher.combine(folder)
      return
    case .get(let object): (kind, name) = (1, object)
    case .put(let object, _): (kind, name) = (2, object)
    case .stat(let object): (kind, name) = (3, object)
    case .delete(let object): (kind, name) = (4, object)
    }
    hasher.combine(kind)
    hasher.combine(name)
  }
}

/// The answer to a request.
public enum Answer: Sendable {
  /// The objects of a folder, and the server's time; nil where there is no server's clock.
  case listed([ListedObject], at: UInt64?)
  case got(ReceivedObject)
  /// `get` and `stat`: no such object.
  case missing
  /// `put` and `delete`.
  case done
  /// `stat`: its length.
  case found(byteCount: Int)
  /// No answer came, or a refusal: nobody knows whether the request was carried out.
  case failed
}

/// The bytes of an object as somebody sent them, with their hash: the thread that gets them hashes them.
public struct ReceivedObject: Sendable {
  public let bytes: [UInt8]
  /// SHA-256 of the bytes.
  public let hash: ObjectHash

  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
    hash = ObjectHash(hashing: bytes)
  }
}

/// An object in a list.
public struct ListedObject: Hashable, Sendable {
  public let name: ObjectName
  public let byteCount: Int
  /// The server's date; nil where there is no server's clock.
  public let date: UInt64?

  public init(name: ObjectName, byteCount: Int, date: UInt64?) {
    self.name = name
    self.byteCount = byteCount
    self.date = date
  }
}

/// What a step asks for.
public enum Effect: Sendable {
  /// In the transaction of the step: store a content. One of several parts may be lost until all are here; then it is
  /// wanted again by the process that comes next.
  case keep(ContentName, SharedSecretBytes)
  /// In the transaction of the step: the content of a version, in several parts, is that of another one as well.
  case carry(from: RecordVersion, to: RecordVersion)
  /// In the transaction of the step: erase the content of a version, with all parts.
  case drop(record: RecordID, version: Version)
  /// After the transaction.
  case request(Request)
  /// The run is over.
  case ended(Outcome)
}

/// How a run, or a change of the account, ended.
public enum Outcome: Error, Hashable, Sendable {
  /// Everything is sent, acknowledged and verified.
  case complete
  /// The remote did not answer; the next run goes on.
  case unreachable
  /// The account is not at the place at all.
  case empty
  /// Another copy of this device writes.
  case cloned
  /// This device was revoked.
  case revoked
  /// This device was not added to the account, or by an operation that does not count.
  case notMember
  /// No epoch whose key is here is safe to seal under, until a slot is opened.
  case noSafeEpoch
  /// A sweep was refused: an alarm is open, or something is held.
  case sweepRefused
  /// The opened slot does not hold the owner key in force.
  case notOwner
  /// No slot would be left, and the owner key would be lost with the last one.
  case lastSlot
  /// The control log lacks an operation that was known when the slot was made: the remote shows an older state.
  case older
  /// The owner key forked, and nobody has chosen a branch here.
  case ownerForked
  /// A key of the device or slot to be added has another use in this account.
  case keyInUse
  /// A key of the device or slot to be added is not a point of the curve, or no operation can hold its level or name.
  case keyInvalid
  /// The account has had as many epochs as an envelope holds keys, or has more members than one operation can give keys.
  case tooManyEpochs
  /// A part is larger than a pack can hold (``Pack/frameByteCountLimit``), or there are too many; nothing is shared.
  case tooLarge
}

/// What is wrong at the remote, or with somebody's history.
public enum Alarm: Hashable, Sendable {
  /// An object is not what its name says, or breaks a rule.
  case tampered(ObjectName)
  /// A pack is gone while its contents are needed.
  case incomplete(ObjectName)
  /// An object that was there at an earlier run is gone.
  case rolledBack(ObjectName)
  /// The account is not there at all.
  case empty
  /// A chain has two branches, and its device is not revoked.
  case forked(DeviceID)
  /// The owner key has two successors.
  case ownerForked
  /// Another digest than its author's comes out of the same history.
  case digestDiffers(SegmentName)
  /// Something that others name has been missing for a day.
  case missing(ObjectName)
}
