// SPDX-License-Identifier: Apache-2.0
//
// Large sealed values as files beside the database, in `blobs`, and segments of the search index in `search`: written
// and synchronised before the row that names them, and removed after it. A file that no row names was left by a crash
// and is removed, unless its writer still holds a lock on it (flock). The contents are the business of the module that
// seals them.

internal import CSystem
internal import Glibc

/// The blob files of a coffer.
public struct BlobFiles: Sendable {
  /// The folder's name in the home directory.
  public static let folderName = StorageError.Place.blobs.rawValue
  /// The name of the folder of the search index.
  public static let searchFolderName = StorageError.Place.search.rawValue

  /// Nil for a coffer in memory, which has none.
  private let path: String?
  /// The folder.
  private let place: StorageError.Place

  init(home: String?, place: StorageError.Place = .blobs) {
    path = home.map { $0 + "/" + place.rawValue }
    self.place = place
  }

  private func opened() throws(StorageError) -> BlobFolder? {
    guard let path else { return nil }
    return try BlobFolder(path, place)
  }

  /// Starts a new blob. It has a random name, and belongs to nobody before ``Writer/finish()``.
  /// - Throws: `StorageError.placeTaken` when the folder is a link or another user's.
  public func create(name: BlobName) throws -> Writer {
    guard let path else { throw StorageError.notPermitted }
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw StorageError(systemError: errno) }
    guard let folder = try opened() else { throw StorageError.notFound }
    guard folder.isOwn else { throw StorageError.placeTaken(place) }
    let descriptor = unsafe openat(
      folder.descriptor, name.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    // Who looks whether there is a claim holds a lock for a moment. Where the file system knows no locks, the date alone
    // keeps the blob.
    while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    return Writer(claim: BlobClaim(descriptor: descriptor), name: name, folder: folder)
  }

  /// Opens a blob.
  /// - Throws: `StorageError.corrupt` when it is missing, not a file, or cannot be read: a row names it, and
  ///   the caller goes on with other blobs. `.placeTaken` when the folder is a link.
  public func open(_ name: BlobName) throws -> Reader {
    guard let folder = try opened() else { throw StorageError.corrupt(part: .record) }
    do {
      let descriptor = try DatabaseFile.openFile(name.text, O_RDONLY, in: folder.descriptor, as: place)
      guard let descriptor else { throw StorageError.corrupt(part: .record) }
      return Reader(descriptor: descriptor)
    } catch StorageError.placeTaken, StorageError.notPermitted {
      throw StorageError.corrupt(part: .record)
    }
  }

  /// Makes the names of finished blobs durable. Call it before you write the row that names them.
  public func synchronise() throws {
    guard let path else { return }
    for path in [path, path + "/.."] {
      let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
      guard descriptor >= 0 else { throw StorageError(systemError: errno) }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
    }
  }

  /// Overwrites and removes a blob; it is not an error if there is none. One that has another name as well,
  /// or is a link or a pipe, is only removed.
  public func remove(_ name: BlobName) {
    guard let path, let folder = try? BlobFolder(path, place) else { return }
    folder.remove(name)
  }

  /// The names of all blobs. Files with other names are not ours.
  /// - Throws: `StorageError.placeTaken` when their folder is a link.
  public func names() throws -> [BlobName] { try opened()?.names() ?? [] }

  /// Whether a process holds a ``BlobClaim`` on a blob.
  public func isClaimed(_ name: BlobName) throws -> Bool { try opened()?.isClaimed(name) ?? false }

  /// Whether there is a file of each of these names.
  public func contain(_ names: some Sequence<BlobName>) throws -> Bool {
    guard let folder = try opened() else { return names.allSatisfy { _ in false } }
    return names.allSatisfy { folder.status($0)?.isRegularFile == true }
  }

  /// Removes blobs that are not named, except those written after `time` and those that somebody claims: they belong to a
  /// writer that is at work, whether or not it still has the lock.
  func sweep(except named: Set<BlobName>, writtenBy time: FileTime) throws {
    guard let folder = try opened() else { return }
    guard folder.isOwn else { throw StorageError.placeTaken(place) }
    for name in try folder.names() where !named.contains(name) {
      guard let status = folder.status(name), FileTime(status.st_mtim) <= time, !folder.isClaimed(name) else {
        continue
      }
      folder.remove(name)
    }
  }

  /// Removes the folder with all blobs, overwritten; for the end of a coffer. A link is removed; its target
  /// is not touched.
  /// - Throws: `StorageError.notPermitted` when one is still there afterwards.
  func destroy() throws {
    guard let path else { return }
    do throws(StorageError) {
      guard let opened = try BlobFolder(path, place) else { return }
      for name in try opened.names() { opened.remove(name) }
      guard try opened.names().isEmpty else { throw StorageError.notPermitted }
      unsafe rmdir(path)
    } catch {
      guard error == .placeTaken(place) else { throw error }
      guard unsafe unlink(path) == 0 else { throw StorageError.notPermitted }
    }
  }
}

/// The open folder: operations act on it even if its path is changed to lead elsewhere.
private struct BlobFolder: ~Copyable {
  let descriptor: Int32

  /// Nil when there is none.
  /// - Throws: `StorageError.placeTaken` when it is a link, or not a folder.
  init?(_ path: String, _ place: StorageError.Place) throws(StorageError) {
    descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP, ENOTDIR: throw .placeTaken(place)
      default: throw StorageError(systemError: errno)
      }
    }
  }

  deinit { close(descriptor) }

  /// Whether it belongs to this user.
  var isOwn: Bool { DatabaseFile.status(descriptor)?.st_uid == geteuid() }

  func status(_ name: BlobName) -> stat? {
    var status = stat()
    return unsafe fstatat(descriptor, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }

  /// Whether a process holds a ``BlobClaim`` on it. One of which that cannot be told counts as claimed: it is removed another
  /// time.
  func isClaimed(_ name: BlobName) -> Bool {
    let file = unsafe openat(descriptor, name.text, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    // Not there, or a link, of which only the name is removed.
    guard file >= 0 else { return errno != ENOENT && errno != ELOOP }
    defer { close(file) }
    return flock(file, LOCK_EX | LOCK_NB) != 0 && ![ENOLCK, ENOSYS, EOPNOTSUPP].contains(errno)
  }

  func remove(_ name: BlobName) {
    DatabaseFile.overwrite(name.text, in: descriptor)
    unsafe unlinkat(descriptor, name.text, 0)
  }

  func names() throws(StorageError) -> [BlobName] {
    // The reading position belongs to the descriptor, so the listing opens its own.
    let listed = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0 else { throw StorageError(systemError: errno) }
    guard let directory = unsafe fdopendir(listed) else {
      let code = errno
      close(listed)
      throw StorageError(systemError: code)
    }
    defer { unsafe closedir(directory) }
    return unsafe try DatabaseFile.names(in: directory).compactMap { BlobName($0) }
  }
}

/// The name of a blob: 16 random bytes.
public struct BlobName: Hashable, Sendable {
  /// Bytes in a name.
  public static let byteCount = 16

  /// The 16 bytes; the file is named by their hexadecimal digits.
  public let bytes: [UInt8]

  /// - Parameter bytes: 16 of them.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads the name of a file: 32 digits, lower case.
  init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * Self.byteCount else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.digits.firstIndex(of: digits[place]),
        let low = Self.digits.firstIndex(of: digits[place + 1])
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    self.bytes = bytes
  }

  var text: String {
    String(decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static let digits = Array("0123456789abcdef".utf8)
}

/// A blob that no row names yet. While this value is there, no writer takes the blob for one that a crash has left: its file
/// is locked (flock), until the value goes or the process ends.
public final class BlobClaim: Sendable {
  fileprivate let descriptor: Int32

  fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}

extension BlobFiles {
  /// A blob that is being written. If it is dropped before ``finish()``, it is removed.
  public struct Writer: ~Copyable {
    private let claim: BlobClaim
    private let name: BlobName
    private let folder: BlobFolder
    private var isFinished = false

    fileprivate init(claim: BlobClaim, name: BlobName, folder: consuming BlobFolder) {
      self.claim = claim
      self.name = name
      self.folder = folder
    }

    deinit {
      if !isFinished { unsafe unlinkat(folder.descriptor, name.text, 0) }
    }

    /// Writes all of `bytes`.
    public mutating func write(_ bytes: RawSpan) throws {
      let result = unsafe bytes.withUnsafeBytes {
        unsafe coffer_write_all(claim.descriptor, $0.baseAddress, $0.count)
      }
      guard result == 0 else { throw StorageError(systemError: errno) }
    }

    /// Waits until the bytes are on the disk. The name is durable only after ``BlobFiles/synchronise()``.
    /// - Returns: what keeps other processes from removing the blob before a row names it.
    @discardableResult
    public consuming func finish() throws -> BlobClaim {
      guard fsync(claim.descriptor) == 0 else { throw StorageError(systemError: errno) }
      isFinished = true
      return claim
    }
  }

  /// A blob that is being read from its beginning.
  public struct Reader: ~Copyable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// How many bytes the file has.
    public func byteCount() throws -> Int {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw StorageError(systemError: errno) }
      return Int(status.st_size)
    }

    /// Fills `buffer` with the next bytes; fewer only at the end.
    public mutating func read(into buffer: inout MutableRawSpan) throws -> Int {
      try unsafe Self.fill(&buffer) { [descriptor] bytes, _ in
        unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
      }
    }

    /// Fills `buffer` with the bytes from `offset` on, wherever ``read(into:)`` is; fewer only at the end.
    public borrowing func read(
      at offset: Int, into buffer: inout MutableRawSpan
    ) throws(StorageError) -> Int {
      try unsafe Self.fill(&buffer) { [descriptor] bytes, count in
        unsafe pread(descriptor, bytes.baseAddress, bytes.count, offset + count)
      }
    }

    /// - Parameter call: is handed what is not filled yet, and how much is.
    private static func fill(
      _ buffer: inout MutableRawSpan, _ call: (UnsafeMutableRawBufferPointer, _ count: Int) -> Int
    ) throws(StorageError) -> Int {
      var count = 0
      while count < buffer.byteCount {
        let found = unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe call(UnsafeMutableRawBufferPointer(rebasing: bytes[count...]), count)
        }
        if found == 0 { break }
        guard found > 0 else {
          if errno == EINTR { continue }
          throw StorageError(systemError: errno)
        }
        count += found
      }
      return count
    }
  }
}
