// SPDX-License-Identifier: Apache-2.0
//
// What the owner of an account signs: who belongs to it, which slots open it, which epoch is sealed under. These
// operations are a graph of their own; no device's chain has a part in it.

/// One operation of the control log, without its signatures.
public struct ControlOperation: Hashable, Sendable {
  /// How many parents an operation names. If more operations crossed, a `rekey` that names some of them comes before it.
  static let parentLimit = Int(UInt8.max)

  /// The account; nil in `genesis`, whose hash begins with it.
  public var account: AccountID?
  /// 16 bytes, so that two equal operations differ.
  public var random: [UInt8]
  /// Counts owner keys, from 1: the generation of the key that signs.
  public var generation: UInt32
  /// One more than the highest number of a parent; 0 for `genesis`.
  public var number: UInt64
  /// All heads of the log that the author knew, 255 at most; in rising order.
  public var parents: [ControlID]
  /// The last segments that the author had verified; in rising order.
  public var frontier: [SegmentName]
  /// SHA-256 of all envelopes, 32 bytes.
  public var envelopesHash: [UInt8]
  /// The epochs whose keys are in each envelope; in rising order. Whoever got one of them since is known from this.
  public var handsOut: [EpochName]
  public var kind: Kind

  public enum Kind: Hashable, Sendable {
    case genesis(Genesis)
    case addDevice(DeviceEntry)
    case addSlot(SlotEntry)
    case rekey(Rekey)
  }

  public init(
    account: AccountID?, random: [UInt8], generation: UInt32, number: UInt64, parents: [ControlID],
    frontier: [SegmentName], envelopesHash: [UInt8], handsOut: [EpochName], kind: Kind
  ) {
    self.account = account
    self.random = random
    self.generation = generation
    self.number = number
    self.parents = parents
    self.frontier = frontier
    self.envelopesHash = envelopesHash
    self.handsOut = handsOut
    self.kind = kind
  }
}

/// The first operation.
public struct Genesis: Hashable, Sendable {
  /// 65 bytes (SEC 1, 2.3.3).
  public let ownerKey: [UInt8]
  public let device: DeviceEntry
  /// 32 bytes.
  public let epochCommitment: [UInt8]

  public init(ownerKey: [UInt8], device: DeviceEntry, epochCommitment: [UInt8]) {
    self.ownerKey = ownerKey
    self.device = device
    self.epochCommitment = epochCommitment
  }
}

/// A device that belongs to the account.
public struct DeviceEntry: Hashable, Sendable {
  public let id: DeviceID
  /// 65 bytes: verifies its segments.
  public let signingKey: [UInt8]
  /// 65 bytes: envelopes are sealed to it.
  public let agreementKey: [UInt8]
  /// Where its keys are: 1 a chip, 2 software.
  public let level: UInt8
  /// Chosen by its user; at most 64 bytes of UTF-8.
  public let name: String
  /// The device that it replaces.
  public let replaces: DeviceID?

  public init(
    id: DeviceID, signingKey: [UInt8], agreementKey: [UInt8], level: UInt8, name: String, replaces: DeviceID?
  ) {
    self.id = id
    self.signingKey = signingKey
    self.agreementKey = agreementKey
    self.level = level
    self.name = name
    self.replaces = replaces
  }
}

/// A way to open the account.
public struct SlotEntry: Hashable, Sendable {
  public enum Kind: UInt8, Sendable { case passphrase = 1, words = 2 }

  public let id: SlotID
  public let kind: Kind
  /// 65 bytes: envelopes are sealed to it.
  public let agreementKey: [UInt8]
  /// The slot's object on the remote.
  public let object: ObjectHash

  public init(id: SlotID, kind: Kind, agreementKey: [UInt8], object: ObjectHash) {
    self.id = id
    self.kind = kind
    self.agreementKey = agreementKey
    self.object = object
  }
}

/// A new epoch, with those that leave and the slots that come with it.
public struct Rekey: Hashable, Sendable {
  /// How many branches of a revoked device's chain are named: the highest. Only a bad device's can be more.
  static let headLimit = 1_024

  /// A device that is revoked; its segments count up to these heads, one for each branch.
  public struct Revocation: Hashable, Sendable {
    public let device: DeviceID
    /// In rising order; none if nothing of it counts.
    public let heads: [SegmentName]

    public init(device: DeviceID, heads: [SegmentName]) {
      self.device = device
      self.heads = heads
    }
  }

  public let revocations: [Revocation]
  public let removedSlots: [SlotID]
  public let addedSlots: [SlotEntry]
  /// 65 bytes, if a new generation begins.
  public let newOwnerKey: [UInt8]?
  /// 32 bytes.
  public let epochCommitment: [UInt8]

  public init(
    revocations: [Revocation], removedSlots: [SlotID], addedSlots: [SlotEntry], newOwnerKey: [UInt8]?,
    epochCommitment: [UInt8]
  ) {
    self.revocations = revocations
    self.removedSlots = removedSlots
    self.addedSlots = addedSlots
    self.newOwnerKey = newOwnerKey
    self.epochCommitment = epochCommitment
  }
}
