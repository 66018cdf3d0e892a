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
  /// How far a lamport number may be above that of the segment before in the same chain, or above zero in the first. A
  /// chain would need as many segments to use the numbers up.
  static let lamportStep: UInt64 = 1 << 32
  /// How many branches of one chain a frontier names: the highest ones. Honest chains have one or two; a bad member's may
  /// have very many, and others have to name them.
  static let branchLimit = 16
  /// How many control heads a segment names: the lowest ones, if there are more.
  static let controlHeadLimit = Int(UInt8.max)

  public var account: AccountID
  public var device: DeviceID
  /// From 1.
  public var number: UInt64
  /// The hash of the segment before; zero for the first.
  public var previous: ObjectHash
  /// Seconds since 1970; shown, never compared.
  public var time: UInt64
  /// Higher than that of the segment before by at most 2³²; within that, one more than the highest that its author knew.
  public var lamport: UInt64
  /// The highest format that the author understands.
  public var format: UInt16
  /// The author has fetched and verified all captures of its frontier.
  public var holdsAllCaptures: Bool
  /// The last segments that the author has verified, its own among them; in rising order. A device whose chain forked
  /// is there once for each branch, for the 16 highest at most.
  public var frontier: [SegmentName]
  /// The last control operations that the author knows, 255 at most; in rising order.
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
