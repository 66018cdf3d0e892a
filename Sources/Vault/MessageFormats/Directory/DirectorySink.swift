// SPDX-License-Identifier: Apache-2.0
//
// Writing a folder: one file a message, named `<id>.<ending>`, and `metadata.jsonl` with the other metadata.
// Everything is written to a temporary folder beside the target, which is renamed at the end.

internal import CSystem
internal import Glibc

/// A writer of folders. Files have mode 0600, the folder 0700.
public struct DirectorySink: MessageSink, ~Copyable {
  /// The file that describes the others: a JSON object a line with `file`, `title`, `tags`, `type`, `date`.
  static let metadataName = "metadata.jsonl"

  private let target: String
  private let unfinished: UnfinishedExport
  private var folder: Int32
  private var metadata: Int32
  private var lines = ByteBuffer(capacity: DirectorySink.flushByteCount + (16 << 10))
  private var failed = false

  /// Begins the folder `path`, which must not exist.
  ///
  /// - Parameters:
  ///   - path: must not exist.
  ///   - record: is told the temporary name of the folder.
  public init(
    path: String, record: (any UnfinishedExportRecord)? = nil
  ) throws(MessageFormatError) {
    var bare = path
    while bare.count > 1, bare.hasSuffix("/") { bare.removeLast() }
    try self.init(bare, try UnfinishedExport(in: UnfinishedExport.parent(of: bare), record))
  }

  private init(_ bare: String, _ unfinished: UnfinishedExport) throws(MessageFormatError) {
    target = bare
    self.unfinished = unfinished
    folder = -1
    metadata = -1
    folder = try unfinished.makeFolder(for: bare)
    try unfinished.claim(folder)
    metadata = unsafe openat(folder, Self.metadataName, Self.createFlags, 0o600)
    if metadata < 0 { throw .cannotWrite(errno: errno) }
  }

  deinit {
    if metadata >= 0 { close(metadata) }
    if folder >= 0 {
      FolderHandle.empty(folder)
      if unsafe rmdir(unfinished.path) == 0 { unfinished.end() }
      close(folder)
    }
  }

  /// Writes one file for the message, and a line about it; see ``MessageSink``.
  public mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) {
    try MessageLimits.check(id: id, metadata, content)
    guard folder >= 0, !failed else { throw .finished }
    guard Self.isFileName(id) else { throw .unsuitableIdentifier }
    let name = "\(id).\(FileTypes.ending(ofType: metadata.contentType))"
    let file = unsafe openat(folder, name, Self.createFlags, 0o600)
    guard file >= 0 else {
      if errno == EEXIST { throw .alreadyExists }
      throw .cannotWrite(errno: errno)
    }
    defer { close(file) }
    do throws(MessageFormatError) {
      try SystemWrite.all(content, to: file)
      if fdatasync(file) != 0 { throw .cannotWrite(errno: errno) }
      lines.append("{\"file\":")
      JSONWriter.append(name, into: &lines)
      lines.append(ASCII.comma)
      JSONWriter.append(metadata, into: &lines)
      lines.append("}\n")
      if lines.count >= Self.flushByteCount { try flush() }
    } catch {
      failed = true
      throw error
    }
  }

  /// Ends the export; see ``MessageSink``.
  public mutating func finish() throws(MessageFormatError) {
    guard folder >= 0, !failed else { throw .finished }
    try flush()
    guard fsync(metadata) == 0, fsync(folder) == 0 else { throw .cannotWrite(errno: errno) }
    // A rename replaces only an empty folder; this check leaves even that only a moment.
    var status = stat()
    if unsafe lstat(target, &status) == 0 { throw .alreadyExists }
    guard unsafe rename(unfinished.path, target) == 0 else {
      throw errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
        ? .alreadyExists : .cannotWrite(errno: errno)
    }
    close(metadata)
    close(folder)
    metadata = -1
    folder = -1
    try SystemWrite.syncFolder(of: target)
    unfinished.end()
  }

  private mutating func flush() throws(MessageFormatError) {
    let metadata = metadata
    try lines.withBytes { (bytes) throws(MessageFormatError) in try SystemWrite.all(bytes, to: metadata) }
    lines.removeAll()
  }

  /// Letters, digits, `-`, `_` and dots that are not first: a name on every file system.
  private static func isFileName(_ id: String) -> Bool {
    guard !id.isEmpty, id.utf8.count <= MessageLimits.identifierByteCount, id.utf8.first != ASCII.dot else {
      return false
    }
    return id.utf8.allSatisfy {
      ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == ASCII.dash || $0 == ASCII.underscore || $0 == ASCII.dot
    }
  }

  private static let createFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
  private static let flushByteCount = 256 << 10
}
