// SPDX-License-Identifier: Apache-2.0
//
// Large sealed values as files beside the database, in `blobs`: written and synchronised before the row that
// names them, and removed after it. A file that no row names is what a crash left, and is swept. What is in a
// file is for those who seal it.

internal import Glibc

/// The blob files of a coffer.
public struct BlobFiles: Sendable {
  /// The folder's name in the home directory.
  public static let folderName = "blobs"

  private let folder: String

  init(home: String) { folder = home + "/" + Self.folderName }

  /// Starts a new blob. It has a random name, and is nobody's until ``Writer/finish()``.
  public func create(name: BlobName) throws -> Writer {
    if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw StorageError(systemError: errno) }
    let descriptor = unsafe Glibc.open(
      path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError(systemError: errno) }
    return Writer(descriptor: descriptor, path: path(name))
  }

  /// Opens a blob.
  /// - Throws: `StorageError.corrupt` when it is not there: whoever asks has it from a row.
  public func open(_ name: BlobName) throws -> Reader {
    let descriptor = unsafe Glibc.open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      throw errno == ENOENT ? StorageError.corrupt(part: .record) : StorageError(systemError: errno)
    }
    return Reader(descriptor: descriptor)
  }

  /// Makes the names of finished blobs durable; before the row that names them.
  public func synchronise() throws {
    for path in [folder, folder + "/.."] {
      let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
      guard descriptor >= 0 else { throw StorageError(systemError: errno) }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
    }
  }

  /// Overwrites and removes a blob; none is as good.
  public func remove(_ name: BlobName) {
    DatabaseFile.overwrite(path(name))
    unsafe unlink(path(name))
  }

  /// The names of all blobs. Files with other names are not ours.
  public func names() throws -> [BlobName] {
    guard let directory = unsafe opendir(folder) else {
      if errno == ENOENT { return [] }
      throw StorageError(systemError: errno)
    }
    defer { unsafe closedir(directory) }
    var names: [BlobName] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(directory) else {
        // Half a list would pass for the whole: what is not on it is taken for lost.
        guard errno == 0 else { throw StorageError(systemError: errno) }
        return names
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name = BlobName(name) { names.append(name) }
    }
  }

  /// Removes the folder with all blobs, overwritten; for the end of a coffer.
  /// - Throws: `StorageError.notPermitted` when one is still there afterwards.
  func destroy() throws {
    for name in try names() { remove(name) }
    guard try names().isEmpty else { throw StorageError.notPermitted }
    unsafe rmdir(folder)
  }

  private func path(_ name: BlobName) -> String { folder + "/" + name.text }
}

/// The name of a blob: 16 random bytes.
public struct BlobName: Hashable, Sendable {
  public static let byteCount = 16

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

extension BlobFiles {
  /// A blob that is being written. Let go of before ``finish()``, it is removed.
  public struct Writer: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private var isFinished = false

    fileprivate init(descriptor: Int32, path: String) {
      self.descriptor = descriptor
      self.path = path
    }

    deinit {
      close(descriptor)
      if !isFinished { unsafe unlink(path) }
    }

    /// Writes all of `bytes`.
    public mutating func write(_ bytes: RawSpan) throws {
      var offset = 0
      while offset < bytes.byteCount {
        let written = unsafe bytes.withUnsafeBytes { bytes in
          unsafe Glibc.write(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
        }
        guard written > 0 else {
          if written < 0, errno == EINTR { continue }
          throw StorageError(systemError: errno)
        }
        offset += written
      }
    }

    /// Waits until the bytes are on the disk. The name is only after ``BlobFiles/synchronise()``.
    public consuming func finish() throws {
      guard fsync(descriptor) == 0 else { throw StorageError(systemError: errno) }
      isFinished = true
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
      var count = 0
      while count < buffer.byteCount {
        let found = unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
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

extension StorageError {
  /// Sorts an `errno` of the files beside the database.
  init(systemError code: Int32) {
    switch code {
    case ENOSPC, EDQUOT, EFBIG, ENOMEM: self = .full
    case EACCES, EPERM, EROFS, ELOOP, ENOTDIR: self = .notPermitted
    default: self = .inputOutput(code: code)
    }
  }
}
