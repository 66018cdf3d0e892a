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
internal import Secrets

/// Seals and opens packs.
public enum Pack {
  /// Bytes of an object.
  public static let byteCountLimit = 16 << 20
  /// Entries of a pack, the padding among them.
  public static let entryCountLimit = 65_536
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
    _ frames: [[UInt8]], random: [UInt8], keys: EpochKeys, account: AccountID
  ) -> [UInt8] {
    precondition(random.count == randomByteCount, "a pack takes 32 random bytes")
    let contentByteCount = frames.reduce(0) { $0 + $1.count }
    guard let byteCount = byteCount(frameCount: frames.count, frameByteCount: contentByteCount) else {
      preconditionFailure("a pack has room for its frames")
    }
    var entries: [Directory.Entry] = []
    var offset = firstOffset(entryCount: frames.count + 1)
    func add(_ kind: EntryKind, _ content: [UInt8]) {
      let sealedByteCount = content.count + AES256GCM.tagByteCount
      entries.append(
        Directory.Entry(
          kind: kind, offset: offset, sealedByteCount: sealedByteCount, hash: SHA256.hash(content.rawSpan)))
      offset += sealedByteCount
    }
    for frame in frames { add(.frame, frame) }
    let padding = [UInt8](repeating: 0, count: byteCount - offset - AES256GCM.tagByteCount)
    add(.padding, padding)

    let directory = Directory.bytes(entries)
    let salt = keys.pack.withBytes { HMACSHA256.code(of: (random + directory).rawSpan, key: $0) }
    var object = ObjectHead.bytes(magic: magic, epoch: keys.name, salt: salt)
    object.reserveCapacity(byteCount)
    object.append(bigEndian: UInt32(directory.count + AES256GCM.tagByteCount))
    var sealer = EntrySealer(epoch: keys.name, salt: salt, keys: keys, account: account)
    sealer.append(directory, number: 0, kind: EntryKind.directoryNumber, to: &object)
    for (index, frame) in frames.enumerated() {
      sealer.append(frame, number: index + 1, kind: EntryKind.frame.rawValue, to: &object)
    }
    sealer.append(padding, number: entries.count, kind: EntryKind.padding.rawValue, to: &object)
    return object
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
    return try Directory(
      try sealer.open(object, range, number: 0, kind: EntryKind.directoryNumber),
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
  ) throws(FormatError) -> [UInt8] {
    guard number > 0, number <= directory.entries.count else { throw .malformed }
    let entry = directory.entries[Int(number) - 1]
    let range = entry.offset..<entry.offset + entry.sealedByteCount
    guard range.upperBound <= object.count else { throw .malformed }
    var sealer = try sealer(of: object, keys: keys, account: account)
    let content = try sealer.open(object, range, number: Int(number), kind: entry.kind.rawValue)
    guard SHA256.hash(content.rawSpan) == entry.hash else { throw .malformed }
    return content
  }

  /// Opens the directory of a pack and one of its entries.
  public static func entry(
    _ number: UInt32, of object: [UInt8], keys: EpochKeys, account: AccountID
  ) throws(FormatError) -> [UInt8] {
    let directory = try directory(of: object, keys: keys, account: account)
    return try entry(number, of: object, directory: directory, keys: keys, account: account)
  }

  private static func firstOffset(entryCount: Int) -> Int {
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

/// Seals and opens the directory and the entries of one pack.
private struct EntrySealer: ~Copyable {
  private let key: SymmetricKey
  /// "coffer pack v1" ‖ account ‖ epoch ‖ salt
  private let context: [UInt8]
  private var cipher = AES256GCM()

  init(epoch: EpochName, salt: [UInt8], keys: EpochKeys, account: AccountID) {
    let info = Array("coffer pack v1".utf8) + account.bytes
    var hkdf = HKDF()
    key = keys.pack.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: info.rawSpan) }
    var context = info
    context.append(epoch)
    self.context = context + salt
  }

  mutating func append(_ content: [UInt8], number: Int, kind: UInt8, to object: inout [UInt8]) {
    let (nonce, aad) = parameters(number: number, kind: kind, byteCount: content.count)
    let start = object.count
    object += content
    object += [UInt8](repeating: 0, count: AES256GCM.tagByteCount)
    let range = start..<object.count
    do {
      try key.withBytes { key throws(CryptoError) in
        try object.withMutableRawSpan { object throws(CryptoError) in
          try object.withRange(range) { content throws(CryptoError) in
            try cipher.sealInPlace(&content, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan)
          }
        }
      }
    } catch { preconditionFailure("a pack is smaller than what the cipher can take") }
  }

  mutating func open(
    _ object: [UInt8], _ range: Range<Int>, number: Int, kind: UInt8
  ) throws(FormatError) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: range.count - AES256GCM.tagByteCount)
    let (nonce, aad) = parameters(number: number, kind: kind, byteCount: content.count)
    do {
      try key.withBytes { key throws(CryptoError) in
        try content.withMutableRawSpan { content throws(CryptoError) in
          try cipher.open(
            object.rawSpan.extracting(range), key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan,
            into: &content)
        }
      }
    } catch { throw .notAuthentic }
    return content
  }

  private func parameters(number: Int, kind: UInt8, byteCount: Int) -> (nonce: [UInt8], aad: [UInt8]) {
    var nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount - 4)
    nonce.append(bigEndian: UInt32(number))
    var aad = context
    aad.append(bigEndian: UInt32(number))
    aad.append(kind)
    aad.append(bigEndian: UInt32(byteCount))
    return (nonce, aad)
  }
}
