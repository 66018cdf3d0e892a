// SPDX-License-Identifier: Apache-2.0
//
// Writes a backup. The file has no name until it is complete and was read back.

internal import Glibc
public import Keychains
public import MessageFormats
internal import Primitives
public import Secrets

/// A backup that is being written. If it is dropped before ``claimName()``, nothing of it is left.
public struct BackupWriter: ~Copyable {
  /// Bytes of the file so far.
  public private(set) var fileByteCount = 0
  /// Bytes of content that were given to it, for progress.
  public private(set) var contentByteCount = 0

  private let file: UnnamedFile
  private let header: BackupHeader
  private let keys: ClassKeys
  private let isStopped: (Int) -> Bool
  private let chunks: BackupChunks
  /// The next chunk, with room for its tag.
  private var buffer: SecretBytes
  private var filled = 0
  private var recordCount: UInt64 = 0
  /// Bytes of the present record that are still to come.
  private var missing = 0

  /// Starts a backup at `path`, which must be free.
  ///
  /// - Parameters:
  ///   - keybag: the slots that will open it.
  ///   - keys: of the coffer.
  ///   - record: is told of a name that the file has meanwhile.
  ///   - isStopped: asked after each chunk, with the bytes of content so far; true stops.
  /// - Throws: `MessageFormatError`; `KeychainError.locked`.
  public init(
    path: String, keybag: Keybag, keys: ClassKeys, record: (any UnfinishedExportRecord)?,
    isStopped: @escaping (Int) -> Bool
  ) throws {
    let file = try UnnamedFile(path: path, record: record)
    let header = try BackupHeader(keybag, keys)
    let key = try header.bodyKey(keys)
    try Self.write(header.bytes.rawSpan, to: file.descriptor)
    self.file = file
    self.header = header
    self.keys = keys
    self.isStopped = isStopped
    chunks = BackupChunks(key)
    buffer = SecretBytes(zeroed: BackupChunks.sealedByteCount)
    fileByteCount = header.bytes.count
  }

  /// Checks that a backup can get this name, before anybody is asked for anything.
  /// - Throws: `MessageFormatError.alreadyExists`, `.notFound`, `.cannotWrite`.
  public static func checkPlace(_ path: String) throws(MessageFormatError) { _ = try UnnamedFile(path: path) }

  /// Checks that the disk has room for so many bytes.
  /// - Throws: `BackupError.noRoom`.
  public func requireRoom(_ byteCount: Int) throws(BackupError) {
    let room = DiskRoom.free(atDescriptor: file.descriptor)
    if let room, room < byteCount { throw .noRoom(needed: byteCount, free: room) }
  }

  // MARK: Records

  /// Writes a small record.
  public mutating func append(_ kind: BackupRecordKind, _ content: RawSpan) throws {
    try begin(kind, byteCount: content.byteCount)
    try append(content)
  }

  /// What it says of itself; the first record.
  public mutating func append(_ about: BackupAbout) throws { try append(.about, about.bytes.rawSpan) }

  /// Starts a record whose content follows in pieces of `byteCount` bytes together.
  mutating func begin(_ kind: BackupRecordKind, byteCount: Int) throws {
    precondition(missing == 0, "a record is complete before the next begins")
    var head: [UInt8] = [kind.rawValue]
    head.append(bigEndian: UInt64(byteCount))
    missing = head.count + byteCount
    recordCount += 1
    try append(head.rawSpan)
  }

  /// Writes a piece of the present record.
  mutating func append(_ bytes: RawSpan) throws {
    precondition(bytes.byteCount <= missing, "no more content than announced")
    missing -= bytes.byteCount
    contentByteCount += bytes.byteCount
    var offset = 0
    while offset < bytes.byteCount {
      // A full chunk is written once it is known not to be the last.
      if filled == BackupChunks.byteCount { try flush(isLast: false) }
      let count = min(BackupChunks.byteCount - filled, bytes.byteCount - offset)
      let piece = bytes.extracting(offset..<offset + count)
      buffer.withMutableBytes { $0.copy(piece, to: filled) }
      filled += count
      offset += count
    }
  }

  /// Writes a domain of protected data: number (1) ‖ schema (2) ‖ payload.
  public mutating func append(
    domain: UInt8, schemaVersion: UInt16, payload: SharedSecretBytes
  ) throws {
    try begin(.domain, byteCount: 3 + payload.count)
    var head = [domain]
    head.append(bigEndian: schemaVersion)
    try append(head.rawSpan)
    try payload.withBytes { try append($0) }
  }

  /// Seals a private part under the key that only the owner has: kind (1) ‖ length (1) ‖ fingerprint ‖ content.
  /// - Throws: `KeychainError.locked` without the owner key.
  public mutating func append(privatePart part: borrowing SecretBytes, kind: UInt8, fingerprint: [UInt8])
    throws
  {
    let key = try header.privateKey(keys)
    let plain = part.withBytes { part in
      SecretBytes(byteCount: 2 + fingerprint.count + part.byteCount) { bytes in
        bytes.copy(([kind, UInt8(fingerprint.count)] + fingerprint).rawSpan, to: 0)
        bytes.copy(part, to: 2 + fingerprint.count)
      }
    }
    var sealer = SealedValue()
    let context = header.privateContext
    let sealed = plain.withBytes { plain in key.withBytes { sealer.seal(plain, key: $0, context: context) } }
    try append(.privatePart, sealed.rawSpan)
  }

  // MARK: The end

  /// Writes the last record and the last chunk, and waits until all of it is on the disk.
  public mutating func finish() throws {
    var count: [UInt8] = []
    count.append(bigEndian: recordCount)
    try append(.end, count.rawSpan)
    try flush(isLast: true)
    try file.synchronise()
  }

  /// Reads the file back, opens every part of it, and compares the counts.
  /// - Throws: `BackupError.damaged` when it is not what was written.
  public func verify() throws {
    // What is compared is to come from the disk.
    posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED)
    var reader = try BackupReader(borrowing: file.descriptor)
    guard reader.header.bytes == header.bytes else { throw BackupError.damaged }
    try reader.open(keys)
    try reader.check(isStopped: isStopped)
    // The reader does not count the end.
    guard reader.recordCount + 1 == recordCount else { throw BackupError.damaged }
  }

  /// Gives the file its name, if nothing has it.
  /// - Throws: `MessageFormatError.alreadyExists`, `.cannotWrite`.
  public func claimName() throws { try file.claimName() }

  private mutating func flush(isLast: Bool) throws {
    let end = filled + AES256GCM.tagByteCount
    let chunks = chunks
    buffer.withMutableBytes { bytes in
      var chunk = bytes._mutatingExtracting(first: end)
      chunks.seal(&chunk, isLast: isLast)
    }
    try buffer.withBytes { try Self.write($0.extracting(first: end), to: file.descriptor) }
    fileByteCount += end
    filled = 0
    guard !isStopped(contentByteCount) else { throw BackupError.stopped }
  }

  private static func write(_ bytes: RawSpan, to descriptor: Int32) throws {
    do { try SystemWrite.all(bytes, to: descriptor) } catch {
      throw error.isOutOfSpace ? BackupError.noRoom(needed: 0, free: 0) : error
    }
  }
}

/// The free room of a disk.
package enum DiskRoom {
  /// Bytes that this user may still write; nil when it cannot be told.
  static func free(atDescriptor descriptor: Int32) -> Int? {
    var disk = statvfs()
    guard unsafe fstatvfs(descriptor, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) &* UInt64(disk.f_frsize))
  }

  /// The same for the disk that a folder is on.
  package static func free(at path: String) -> Int? {
    var disk = statvfs()
    guard unsafe statvfs(path, &disk) == 0 else { return nil }
    return Int(clamping: UInt64(disk.f_bavail) &* UInt64(disk.f_frsize))
  }
}
