// SPDX-License-Identifier: Apache-2.0
//
// A segment: one link of a device's chain. It names its predecessor, what its author has verified of everybody, the
// packs that it brings, and what they hold.

/// A segment of a chain, by name.
public struct SegmentName: Hashable, Comparable, Sendable {
  public let device: DeviceID
  /// From 1.
  public let number: UInt64
  public let hash: ObjectHash

  public init(device: DeviceID, number: UInt64, hash: ObjectHash) {
    self.device = device
    self.number = number
    self.hash = hash
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.device, left.number, left.hash) < (right.device, right.number, right.hash)
  }
}

/// A pack that a segment brings.
public struct PackReference: Hashable, Sendable {
  public let hash: ObjectHash
  /// Bytes of the sealed object.
  public let byteCount: UInt32

  public init(hash: ObjectHash, byteCount: UInt32) {
    self.hash = hash
    self.byteCount = byteCount
  }
}

/// The content of a segment, without its signature.
public struct Segment: Hashable, Sendable {
  /// Bytes of the sealed object.
  public static let byteCountLimit = 1 << 20
  public static let operationCountLimit = 4_000
  public static let packCountLimit = 1_024
  /// How far a lamport number may be above those of a frontier that a reader has not whole: a bad member must not be able
  /// to use the numbers up.
  static let lamportSlack: UInt64 = 1 << 20

  public var account: AccountID
  public var device: DeviceID
  /// From 1.
  public var number: UInt64
  /// The hash of the segment before; zero for the first.
  public var previous: ObjectHash
  /// Seconds since 1970; shown, never compared.
  public var time: UInt64
  /// One more than the highest of the frontier.
  public var lamport: UInt64
  /// The highest format that the author understands.
  public var format: UInt16
  /// The author has fetched and verified all captures of its frontier.
  public var holdsAllCaptures: Bool
  /// The last segments that the author has verified, its own among them; in rising order. A device whose chain forked
  /// is there once for each branch.
  public var frontier: [SegmentName]
  /// The last control operations that the author knows; in rising order.
  public var controlHeads: [ControlID]
  /// The digest of the records, after the operations of this segment.
  public var digest: StateDigest
  public var packs: [PackReference]
  public var operations: [Operation]

  /// The segment's predecessor; nil for the first.
  public var predecessor: SegmentName? {
    number == 1 ? nil : SegmentName(device: device, number: number - 1, hash: previous)
  }

  public init(
    account: AccountID, device: DeviceID, number: UInt64, previous: ObjectHash, time: UInt64, lamport: UInt64,
    format: UInt16 = 1, holdsAllCaptures: Bool = false, frontier: [SegmentName], controlHeads: [ControlID],
    digest: StateDigest, packs: [PackReference], operations: [Operation]
  ) {
    self.account = account
    self.device = device
    self.number = number
    self.previous = previous
    self.time = time
    self.lamport = lamport
    self.format = format
    self.holdsAllCaptures = holdsAllCaptures
    self.frontier = frontier
    self.controlHeads = controlHeads
    self.digest = digest
    self.packs = packs
    self.operations = operations
  }
}
