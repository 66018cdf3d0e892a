// SPDX-License-Identifier: Apache-2.0
//
// Seals a pack, and opens its parts. Contents that wait for their pack are in the memory for secrets, small ones in one
// buffer, and are sealed from there into the object; what is opened goes into memory for secrets. None of it is ever in
// another place.

internal import Primitives
internal import Secrets

/// Gathers the contents of one pack. The caller needs to hold one of them at a time.
struct PackWriter: ~Copyable {
  private struct Content {
    let kind: Pack.EntryKind
    let byteCount: Int
    let hash: [UInt8]
    /// A large content as it came; nil for one in the buffer.
    let frame: SharedSecretBytes?
  }

  /// The small contents, one after the other.
  private var buffer = SecretBytes(zeroed: firstByteCount)
  private var bufferedByteCount = 0
  /// Of all contents.
  private var byteCount = 0
  private var contents: [Content] = []

  /// One message, and some more, need no other buffer.
  private static let firstByteCount = 4_096
  /// Of a content that is not copied into the buffer.
  private static let largeByteCount = 1 << 20

  /// How many contents there are.
  var count: Int { contents.count }

  /// Takes a content, if the pack has room for it.
  /// - Returns: whether it had.
  mutating func append(_ frame: SharedSecretBytes, kind: Pack.EntryKind = .frame) -> Bool {
    guard Pack.byteCount(frameCount: count + 1, frameByteCount: byteCount + frame.count) != nil else {
      return false
    }
    let isLarge = frame.count >= Self.largeByteCount
    if !isLarge {
      reserve(bufferedByteCount + frame.count)
      let start = bufferedByteCount
      frame.withBytes { frame in buffer.withMutableBytes { $0.copy(frame, to: start) } }
      bufferedByteCount += frame.count
    }
    contents.append(
      Content(
        kind: kind, byteCount: frame.count, hash: frame.withBytes { SHA256.hash($0) },
        frame: isLarge ? frame : nil))
    byteCount += frame.count
    return true
  }

  private mutating func reserve(_ wanted: Int) {
    guard wanted > buffer.count else { return }
    var larger = SecretBytes(zeroed: max(wanted, min(2 * buffer.count, Pack.byteCountLimit)))
    buffer.withBytes { old in larger.withMutableBytes { $0.copy(old, to: 0) } }
    buffer = larger
  }

  /// The sealed pack; at least one content was taken.
  /// - Parameters:
  ///   - random: 32 bytes.
  ///   - keys: of the epoch that is sealed under.
  ///   - account: that the pack belongs to.
  consuming func seal(random: [UInt8], keys: EpochKeys, account: AccountID) -> [UInt8] {
    precondition(random.count == Pack.randomByteCount, "a pack takes 32 random bytes")
    guard let objectByteCount = Pack.byteCount(frameCount: count, frameByteCount: byteCount) else {
      preconditionFailure("a pack has a content, and room for all that it took")
    }
    let padding = [UInt8](
      repeating: 0,
      count: objectByteCount - Pack.firstOffset(entryCount: count + 1) - byteCount
        - (count + 1) * AES256GCM.tagByteCount)
    var entries: [Pack.Directory.Entry] = []
    var offset = Pack.firstOffset(entryCount: count + 1)
    func add(_ kind: Pack.EntryKind, byteCount: Int, hash: [UInt8]) {
      let sealed = byteCount + AES256GCM.tagByteCount
      entries.append(Pack.Directory.Entry(kind: kind, offset: offset, sealedByteCount: sealed, hash: hash))
      offset += sealed
    }
    for content in contents { add(content.kind, byteCount: content.byteCount, hash: content.hash) }
    add(.padding, byteCount: padding.count, hash: SHA256.hash(padding.rawSpan))

    let directory = Pack.Directory.bytes(entries)
    let salt = keys.pack.withBytes { HMACSHA256.code(of: (random + directory).rawSpan, key: $0) }
    var object = ObjectHead.bytes(magic: Pack.magic, epoch: keys.name, salt: salt)
    object.reserveCapacity(objectByteCount)
    object.append(bigEndian: UInt32(directory.count + AES256GCM.tagByteCount))
    let directoryOffset = object.count
    object += [UInt8](repeating: 0, count: objectByteCount - directoryOffset)
    var sealer = EntrySealer(epoch: keys.name, salt: salt, keys: keys, account: account)
    sealer.seal(
      directory.rawSpan, number: 0, kind: Pack.EntryKind.directoryNumber, into: &object, at: directoryOffset)
    buffer.withBytes { buffer in
      var start = 0
      for (index, content) in contents.enumerated() {
        func seal(_ bytes: RawSpan) {
          sealer.seal(
            bytes, number: index + 1, kind: content.kind.rawValue, into: &object, at: entries[index].offset)
        }
        if let frame = content.frame {
          frame.withBytes(seal)
        } else {
          seal(buffer.extracting(start..<start + content.byteCount))
          start += content.byteCount
        }
      }
    }
    sealer.seal(
      padding.rawSpan, number: entries.count, kind: Pack.EntryKind.padding.rawValue, into: &object,
      at: entries[count].offset)
    return object
  }
}

/// Seals and opens the directory and the entries of one pack.
struct EntrySealer: ~Copyable {
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

  /// Seals a content into the bytes of `object` from `offset` on.
  mutating func seal(
    _ content: RawSpan, number: Int, kind: UInt8, into object: inout [UInt8], at offset: Int
  ) {
    let (nonce, aad) = parameters(number: number, kind: kind, byteCount: content.byteCount)
    let range = offset..<offset + content.byteCount + AES256GCM.tagByteCount
    do {
      try key.withBytes { key throws(CryptoError) in
        try object.withMutableRawSpan { object throws(CryptoError) in
          try object.withRange(range) { output throws(CryptoError) in
            try cipher.seal(
              content, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan, into: &output)
          }
        }
      }
    } catch { preconditionFailure("a pack is smaller than what the cipher can take") }
  }

  /// Opens the part `range` of an object.
  mutating func open(
    _ object: [UInt8], _ range: Range<Int>, number: Int, kind: UInt8
  ) throws(FormatError) -> SecretBytes {
    let count = range.count - AES256GCM.tagByteCount
    let (nonce, aad) = parameters(number: number, kind: kind, byteCount: count)
    do {
      return try key.withBytes { key throws(CryptoError) in
        try SecretBytes(byteCount: count) { content throws(CryptoError) in
          try cipher.open(
            object.rawSpan.extracting(range), key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan,
            into: &content)
        }
      }
    } catch { throw .notAuthentic }
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
