// SPDX-License-Identifier: Apache-2.0
//
// What is in a folder: the names and contents of files, and the folders in it. Memory that SQLite shares
// between processes (`-shm`) is not a disk: it is left out, and gone after a crash.

import Glibc

/// The files below a folder, by their names from there.
public struct DiskImage: Sendable {
  /// The folder itself is not among them.
  public var folders: Set<String> = []
  public var files: [String: [UInt8]] = [:]

  public init() {}

  /// Reads what is in `folder`.
  public init(of folder: String) throws {
    try read(folder, "")
  }

  private mutating func read(_ folder: String, _ prefix: String) throws {
    for name in try Self.names(in: folder) where !name.hasSuffix("-shm") {
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { throw DiskError("lstat", errno) }
      if status.st_mode & S_IFMT == S_IFDIR {
        folders.insert(prefix + name)
        try read(path, prefix + name + "/")
      } else {
        files[prefix + name] = try Self.contents(path, byteCount: Int(status.st_size))
      }
    }
  }

  /// Makes `folder` hold this and nothing else.
  /// - Returns: the inodes of the files.
  @discardableResult
  public func write(to folder: String) throws -> [String: UInt] {
    var inodes: [String: UInt] = [:]
    try Self.empty(folder)
    // A shorter name comes before what is in it.
    for name in folders.sorted() where mkdir(folder + "/" + name, 0o700) != 0 {
      throw DiskError("mkdir", errno)
    }
    for (name, bytes) in files {
      let descriptor = open(folder + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw DiskError("open", errno) }
      defer { close(descriptor) }
      let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      var status = stat()
      guard written == bytes.count, fstat(descriptor, &status) == 0 else { throw DiskError("write", errno) }
      inodes[name] = UInt(status.st_ino)
    }
    return inodes
  }

  /// Removes all that is in `folder`.
  static func empty(_ folder: String) throws {
    for name in try names(in: folder) {
      let path = folder + "/" + name
      if unlink(path) == 0 { continue }
      guard errno == EISDIR || errno == EPERM else { throw DiskError("unlink", errno) }
      try empty(path)
      guard rmdir(path) == 0 else { throw DiskError("rmdir", errno) }
    }
  }

  private static func names(in folder: String) throws -> [String] {
    guard let directory = opendir(folder) else { throw DiskError("opendir", errno) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  private static func contents(_ path: String, byteCount: Int) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw DiskError("open", errno) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count == byteCount else { throw DiskError("read", errno) }
    return bytes
  }
}

extension DiskImage {
  /// Tells this state from any other in this process, with a chance of error that does not count. Comparing
  /// byte by byte would take a build for debugging most of its time.
  var digest: Int {
    var hasher = Hasher()
    hasher.combine(folders)
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      hasher.combine(bytes.count)
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }
}

/// A call on the files of an enumeration that should not have failed.
public struct DiskError: Error, CustomStringConvertible {
  public let description: String

  public init(_ call: StaticString, _ code: Int32) {
    description = "\(call): \(String(cString: strerror(code)))"
  }

  public init(_ description: String) { self.description = description }
}
