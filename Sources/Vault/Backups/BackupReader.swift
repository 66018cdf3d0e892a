// SPDX-License-Identifier: Apache-2.0
//
// Reads a backup from its beginning to its end. Nothing is handed out that was not authenticated, and only a reader
// that has seen the end knows that nothing is missing.

internal import Glibc
public import Keychains
internal import Primitives
public import Secrets

/// A backup that is being read.
public struct BackupReader: ~Copyable {
  /// The slots that open it.
  public let header: BackupHeader
  /// Bytes of the file.
  public let fileByteCount: Int
  /// Records that were read.
  public private(set) var recordCount: UInt64 = 0
  /// Bytes of the file that were read, for progress.
  public var position: Int { offset }

  private let descriptor: Int32
  private let isOwned: Bool
  private var offset: Int
  private var chunks: BackupChunks?
  private var keys: ClassKeys?
  private var buffer: SecretBytes
  /// The part of the buffer that was not handed out yet.
  private var rest = 0..<0
  private var last = BackupRecordKind.about
  /// Bytes of the present record that were not read yet.
  private var missing = 0

  /// Opens a file and reads its head.
  /// - Throws: `BackupError`.
  public init(path: String) throws(BackupError) {
    // A plain `open` of a pipe without a writer would wait.
    let opened = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard opened >= 0 else { throw .system(errno: errno) }
    do throws(BackupError) { try self.init(opened, isOwned: true) } catch {
      close(opened)
      throw error
    }
  }

  /// Reads a file that the caller keeps open.
  init(borrowing descriptor: Int32) throws(BackupError) { try self.init(descriptor, isOwned: false) }

  private init(_ descriptor: Int32, isOwned: Bool) throws(BackupError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notABackup }
    let size = Int(status.st_size)
    let header = try Self.header(descriptor, size)
    fileByteCount = size
    offset = header.bytes.count
    self.header = header
    self.descriptor = descriptor
    self.isOwned = isOwned
    buffer = SecretBytes(zeroed: BackupChunks.byteCount)
  }

  deinit { if isOwned { close(descriptor) } }

  private static func header(_ descriptor: Int32, _ size: Int) throws(BackupError) -> BackupHeader {
    let prefix = try read(descriptor, 0..<min(BackupHeader.prefixByteCount, size))
    let end =
      try BackupHeader.prefixByteCount + BackupHeader.keybagByteCount(prefix) + BackupHeader.suffixByteCount
    guard end < size else { throw .damaged }
    return try BackupHeader(try read(descriptor, 0..<end))
  }

  /// Gives it the keys that a slot of ``BackupHeader/keybag`` has given.
  /// - Throws: `BackupError.damaged`.
  public mutating func open(_ keys: ClassKeys) throws(BackupError) {
    chunks = BackupChunks(try header.bodyKey(keys))
    self.keys = keys
  }

  // MARK: Records

  /// The next record; nil after the end, when the whole file is known to be what was written.
  /// - Throws: `BackupError.damaged`.
  mutating func next() throws(BackupError) -> (kind: BackupRecordKind, byteCount: Int)? {
    guard missing == 0 else { throw .damaged }
    if last == .end {
      guard rest.isEmpty, offset == fileByteCount else { throw .damaged }
      return nil
    }
    let head = try bytes(9, isHead: true)
    guard let kind = BackupRecordKind(rawValue: head[0]) else { throw .damaged }
    let count = head[1...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let isFirst = recordCount == 0
    guard isFirst == (kind == .about), kind.rawValue >= last.rawValue, count <= UInt64(fileByteCount) else {
      throw .damaged
    }
    last = kind
    missing = Int(count)
    if kind == .end {
      let said = try bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard missing == 0, said == recordCount else { throw .damaged }
      return try next()
    }
    recordCount += 1
    return (kind, missing)
  }

  /// Bytes of the present record that were not read yet.
  var missingByteCount: Int { missing }

  /// The next bytes of the present record, in ordinary memory: not for secrets.
  mutating func bytes(_ count: Int) throws(BackupError) -> [UInt8] { try bytes(count, isHead: false) }

  private mutating func bytes(_ count: Int, isHead: Bool) throws(BackupError) -> [UInt8] {
    var found: [UInt8] = []
    try pieces(count, isHead: isHead) { found.append($0) }
    return found
  }

  /// The rest of the present record, in locked memory.
  mutating func secret() throws(BackupError) -> SecretBytes {
    var secret = SecretBytes(zeroed: missing)
    var end = 0
    try pieces(missing, isHead: false) { piece in
      secret.withMutableBytes { $0.copy(piece, to: end) }
      end += piece.byteCount
    }
    return secret
  }

  /// Hands the next bytes of the present record to `body`, in pieces.
  mutating func pieces(_ count: Int, _ body: (RawSpan) throws -> Void) throws {
    var failure: (any Error)?
    try pieces(count, isHead: false) { piece in
      guard failure == nil else { return }
      do { try body(piece) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private mutating func pieces(
    _ count: Int, isHead: Bool, _ body: (RawSpan) -> Void
  ) throws(BackupError) {
    if !isHead {
      guard count >= 0, count <= missing else { throw .damaged }
      missing -= count
    }
    var wanted = count
    while wanted > 0 {
      if rest.isEmpty { try nextChunk() }
      let piece = rest.prefix(wanted)
      buffer.withBytes { body($0.extracting(piece)) }
      rest = piece.upperBound..<rest.upperBound
      wanted -= piece.count
    }
  }

  // MARK: Chunks

  private mutating func nextChunk() throws(BackupError) {
    let count = min(BackupChunks.sealedByteCount, fileByteCount - offset)
    guard count > AES256GCM.tagByteCount, let chunks else { throw .damaged }
    let sealed = try Self.read(descriptor, offset..<offset + count)
    offset += count
    let isLast = offset == fileByteCount
    let plainCount = count - AES256GCM.tagByteCount
    try buffer.withMutableBytes { buffer throws(BackupError) in
      var plain = buffer._mutatingExtracting(first: plainCount)
      try chunks.open(sealed.rawSpan, isLast: isLast, into: &plain)
    }
    rest = 0..<plainCount
  }

  private static func read(_ descriptor: Int32, _ range: Range<Int>) throws(BackupError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var count = 0
    while count < bytes.count {
      let found = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(
          descriptor, $0.baseAddress?.advanced(by: count), $0.count - count, range.lowerBound + count)
      }
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw .system(errno: errno) }
      // Somebody has made the file shorter.
      guard found > 0 else { throw .damaged }
      count += found
    }
    return bytes
  }
}

extension BackupReader {
  /// A private part, opened.
  public struct PrivatePart: Sendable {
    /// The kind of its content, as custody has it.
    public let kind: UInt8
    /// Of the primary key.
    public let fingerprint: [UInt8]
    /// The key itself.
    public let secret: SharedSecretBytes
  }

  /// Opens the private part that is the present record.
  /// - Throws: `BackupError.damaged`; `KeychainError.locked` without the owner key.
  mutating func privatePart() throws -> PrivatePart {
    let sealed = try bytes(missing)
    guard let keys else { throw KeychainError.locked }
    let part = SealedValue.read(
      sealed.rawSpan, key: try header.privateKey(keys), context: header.privateContext
    ) { plain -> PrivatePart? in
      var cursor = ByteCursor()
      guard let kind = try? cursor.readByte(plain), let count = try? cursor.readByte(plain),
        let fingerprint = try? cursor.readBytes(plain, count: Int(count))
      else { return nil }
      let secret = SecretBytes(copying: plain.extracting(droppingFirst: cursor.offset))
      return PrivatePart(kind: kind, fingerprint: fingerprint, secret: SharedSecretBytes(secret))
    }
    guard let part else { throw BackupError.damaged }
    return part
  }

  /// Reads to the end and opens everything that the keys open.
  /// - Throws: `BackupError.damaged`, `.stopped`.
  mutating func check(isStopped: (Int) -> Bool) throws {
    let hasOwner = keys?.owner != nil
    while let record = try next() {
      if record.kind == .privatePart, hasOwner {
        _ = try privatePart()
      } else {
        try pieces(missing) { _ in }
      }
      guard !isStopped(offset) else { throw BackupError.stopped }
    }
  }
}
