// SPDX-License-Identifier: Apache-2.0
//
// A pack holds contents:
//
//   object:    "COFPAK01" (8) ‖ epoch (8) ‖ salt (32) ‖ length of the sealed directory (4) ‖ sealed directory ‖ entries
//   directory: count (4) ‖ kind (1), offset in the object (4), sealed length (4), SHA-256 of the content (32) each
//              ‖ zeros up to a power of two of at least 1 KiB
//
// Salt = HMAC(pack key, 32 random bytes ‖ directory): two copies of one machine with one random state have the same salt
// only if the contents are the same. Key = HKDF(pack key, salt, "coffer pack v1" ‖ account). The directory has nonce 0,
// entry i has nonce i, from 1. Associated data: "coffer pack v1" ‖ account ‖ epoch ‖ salt ‖ i (4) ‖ kind (1) ‖ length of
// the content (4). A last entry of zeros brings the object to a Padmé size.

internal import Primitives
public import Secrets

/// Seals and opens packs.
public enum Pack {
  /// Bytes of an object.
  public static let byteCountLimit = 16 << 20
  /// Entries of a pack, the padding among them.
  public static let entryCountLimit = 65_536
  /// Bytes of the largest frame that a pack has room for.
  public static let frameByteCountLimit =
    byteCountLimit - firstOffset(entryCount: 2) - 2 * AES256GCM.tagByteCount
  /// Random bytes that a new pack takes.
  public static let randomByteCount = 32

  static let magic: StaticString = "COFPAK01"
  /// Where the sealed directory begins.
  static let directoryOffset = ObjectHead.byteCount + 4

  /// Bytes of the object that holds so many frames with so many bytes together; nil if there is no room for them.
  public static func byteCount(frameCount: Int, frameByteCount: Int) -> Int? {
    guard (1..<entryCountLimit).contains(frameCount), (0...byteCountLimit).contains(frameByteCount) else {
      return nil
    }
    let tags = (frameCount + 1) * AES256GCM.tagByteCount
    let end = firstOffset(entryCount: frameCount + 1) + frameByteCount + tags
    return end <= byteCountLimit ? Padme.size(end) : nil
  }

  /// A pack of message frames, as entries 1, 2, 3 and so on.
  /// - Parameters:
  ///   - frames: at least one; see ``byteCount(frameCount:frameByteCount:)``.
  ///   - random: 32 bytes.
  ///   - keys: of the epoch that is sealed under.
  ///   - account: that the pack belongs to.
  public static func seal(
    _ frames: [SharedSecretBytes], random: [UInt8], keys: EpochKeys, account: AccountID
  ) -> [UInt8] {
    var writer = PackWriter()
    for frame in frames { precondition(writer.append(frame), "a pack has room for its frames") }
    return writer.seal(random: random, keys: keys, account: account)
  }

  /// The epoch whose keys open the object.
  public static func epoch(of object: [UInt8]) throws(FormatError) -> EpochName {
    try ObjectHead(of: object, magic: magic).epoch
  }

  /// Opens the directory of a whole pack.
  public static func directory(
    of object: [UInt8], keys: EpochKeys, account: AccountID
  ) throws(FormatError) -> Directory {
    guard object.count <= byteCountLimit else { throw .tooLarge }
    var sealer = try sealer(of: object, keys: keys, account: account)
    var fields = FieldReader(object, from: ObjectHead.byteCount)
    let count = Int(try fields.integer() as UInt32)
    guard Directory.isSealedByteCount(count), count <= fields.remaining else { throw .malformed }
    let range = fields.offset..<fields.offset + count
    let bytes = try sealer.open(object, range, number: 0, kind: EntryKind.directoryNumber)
    return try Directory(
      bytes.withBytes { [UInt8](copying: $0) },
      entriesAt: range.upperBound, objectByteCount: object.count)
  }

  /// Opens one entry of a pack whose directory is known.
  /// - Parameters:
  ///   - number: from 1.
  ///   - object: the whole pack.
  ///   - directory: of this object.
  ///   - keys: of the pack's epoch.
  ///   - account: that the pack belongs to.
  public static func entry(
    _ number: UInt32, of object: [UInt8], directory: Directory, keys: EpochKeys, account: AccountID
  ) throws(FormatError) -> SharedSecretBytes {
    guard number > 0, number <= directory.entries.count else { throw .malformed }
    let entry = directory.entries[Int(number) - 1]
    let range = entry.offset..<entry.offset + entry.sealedByteCount
    guard range.upperBound <= object.count else { throw .malformed }
    var sealer = try sealer(of: object, keys: keys, account: account)
    let content = try sealer.open(object, range, number: Int(number), kind: entry.kind.rawValue)
    guard content.withBytes({ SHA256.hash($0) }) == entry.hash else { throw .malformed }
    return SharedSecretBytes(content)
  }

  /// Opens the directory of a pack and one of its entries.
  public static func entry(
    _ number: UInt32, of object: [UInt8], keys: EpochKeys, account: AccountID
  ) throws(FormatError) -> SharedSecretBytes {
    let directory = try directory(of: object, keys: keys, account: account)
    return try entry(number, of: object, directory: directory, keys: keys, account: account)
  }

  static func firstOffset(entryCount: Int) -> Int {
    directoryOffset + Directory.byteCount(entryCount: entryCount) + AES256GCM.tagByteCount
  }

  private static func sealer(
    of object: [UInt8], keys: EpochKeys, account: AccountID
  ) throws(FormatError) -> EntrySealer {
    let head = try ObjectHead(of: object, magic: magic)
    guard head.epoch == keys.name else { throw .otherEpoch }
    return EntrySealer(epoch: head.epoch, salt: head.salt, keys: keys, account: account)
  }
}
