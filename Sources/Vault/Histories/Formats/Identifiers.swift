// SPDX-License-Identifier: Apache-2.0
//
// The names of things in an account: 16 bytes for what somebody made up, 32 bytes for hashes. Each kind of thing has
// a type of its own, so that no device is taken for an account.

internal import Primitives
public import Secrets

/// 16 bytes that name a thing of one kind.
public struct Identifier<Kind>: Hashable, Comparable, Sendable {
  /// Bytes in an identifier.
  public static var byteCount: Int { 16 }

  private let high: UInt64
  private let low: UInt64

  /// Reads 16 bytes; nil for any other number.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(Array(bytes), at: 0)
  }

  /// The first 16 bytes of a hash.
  public init(beginningOf hash: [UInt8]) {
    precondition(hash.count >= Self.byteCount, "a hash is longer than an identifier")
    self.init(hash, at: 0)
  }

  /// The 16 bytes from `offset` on, which are there.
  init(_ bytes: [UInt8], at offset: Int) {
    high = UInt64(bytes, at: offset)
    low = UInt64(bytes, at: offset + 8)
  }

  /// The 16 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
    return bytes
  }

  /// Appends the 16 bytes.
  func append(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: high)
    bytes.append(bigEndian: low)
  }

  public static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

/// A SHA-256 hash that names a thing of one kind.
public struct HashName<Kind>: Hashable, Comparable, Sendable {
  /// Bytes in a hash.
  public static var byteCount: Int { SHA256.byteCount }

  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Reads 32 bytes; nil for any other number.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(Array(bytes), at: 0)
  }

  /// The hash of `bytes`.
  public init(hashing bytes: [UInt8]) { self.init(SHA256.hash(bytes.rawSpan), at: 0) }

  /// The hash of `bytes`, which may be secret.
  public init(hashing bytes: RawSpan) { self.init(SHA256.hash(bytes), at: 0) }

  /// The 32 bytes from `offset` on, which are there.
  init(_ bytes: [UInt8], at offset: Int) {
    words = (
      UInt64(bytes, at: offset), UInt64(bytes, at: offset + 8), UInt64(bytes, at: offset + 16),
      UInt64(bytes, at: offset + 24)
    )
  }

  private init() { words = (0, 0, 0, 0) }

  /// 32 zero bytes, where a first thing names its predecessor.
  public static var zero: Self { Self() }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    bytes.append(bigEndian: words.0)
    bytes.append(bigEndian: words.1)
    bytes.append(bigEndian: words.2)
    bytes.append(bigEndian: words.3)
    return bytes
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.words.0 == right.words.0 && left.words.1 == right.words.1 && left.words.2 == right.words.2
      && left.words.3 == right.words.3
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

  public static func < (left: Self, right: Self) -> Bool { left.words < right.words }
}

extension UInt64 {
  /// The eight bytes from `offset` on, the highest first.
  fileprivate init(_ bytes: [UInt8], at offset: Int) {
    self = 0
    for index in offset..<offset + 8 { self = self << 8 | UInt64(bytes[index]) }
  }
}

extension FrameHash {
  /// The hash of a content.
  public init(hashing frame: SharedSecretBytes) {
    self = frame.withBytes { FrameHash(hashing: $0) }
  }
}

/// Of identifiers: one account, all devices of one user.
public enum AccountKind {}
/// Of identifiers: one installation on one machine. An identifier is never used again.
public enum DeviceKind {}
/// Of identifiers: one way to open the account.
public enum SlotKind {}
/// Of identifiers: a device's request to be enrolled.
public enum RequestKind {}
/// Of identifiers: the second half of a version.
public enum VersionKind {}
/// Of hashes: an object on the remote, by its sealed bytes.
public enum ObjectKind {}
/// Of hashes: a control operation, by its bytes before sealing.
public enum ControlKind {}
/// Of hashes: the content of a message's version.
public enum FrameKind {}
/// Of hashes: the state of all records.
public enum StateKind {}

/// Names an account: the first 16 bytes of the hash of its first control operation.
public typealias AccountID = Identifier<AccountKind>
/// Names a device.
public typealias DeviceID = Identifier<DeviceKind>
/// Names an account slot.
public typealias SlotID = Identifier<SlotKind>
/// Names a request to be enrolled: random, since a device may ask again.
public typealias RequestID = Identifier<RequestKind>
/// The hash of an object's sealed bytes, which names it on the remote.
public typealias ObjectHash = HashName<ObjectKind>
/// The hash of a control operation's bytes.
public typealias ControlID = HashName<ControlKind>
/// The hash of a frame.
public typealias FrameHash = HashName<FrameKind>
/// The digest of all records that count.
public typealias StateDigest = HashName<StateKind>

/// Names one version of a record. The higher one is shown if several are left.
public struct Version: Hashable, Comparable, Sendable {
  /// Higher than every lamport number that its author knew.
  public let lamport: UInt64
  /// The first 16 bytes of the hash of device and operation.
  public let tag: Identifier<VersionKind>

  public init(lamport: UInt64, tag: Identifier<VersionKind>) {
    self.lamport = lamport
    self.tag = tag
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.lamport, left.tag) < (right.lamport, right.tag)
  }
}

/// Names an epoch in the head of an object: its number, and the first four bytes of its commitment, since two crossed
/// operations may begin one number.
public struct EpochName: Hashable, Comparable, Sendable {
  public let number: UInt32
  public let check: UInt32

  public init(number: UInt32, check: UInt32) {
    self.number = number
    self.check = check
  }

  public static func < (left: Self, right: Self) -> Bool {
    (left.number, left.check) < (right.number, right.check)
  }
}
