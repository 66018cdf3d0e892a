// SPDX-License-Identifier: Apache-2.0
//
// Folders by descriptor: what is opened below one cannot be led elsewhere by a symbolic link.

internal import CSystem
internal import Glibc

/// An open folder; closed when it goes.
struct FolderHandle: ~Copyable {
  let descriptor: Int32

  /// One name in a folder.
  struct Entry: Sendable {
    /// With its final zero; names are bytes and need not be UTF-8.
    var name: [CChar]
    var isFolder: Bool

    /// The name for people.
    var text: String { String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    /// Whether the name begins with a dot.
    var isHidden: Bool { name.first == CChar(bitPattern: ASCII.dot) }
  }

  init(path: String) throws(MessageFormatError) {
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    if descriptor < 0 {
      switch errno {
      case ENOENT: throw .notFound
      case ENOTDIR: throw .wrongKind
      default: throw .cannotRead(errno: errno)
      }
    }
  }

  /// The folder `name` inside of `parent`; nil when there is none, or it is a link.
  init?(_ name: [CChar], in parent: borrowing FolderHandle) throws(MessageFormatError) {
    let opened = unsafe openat(
      parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else {
      let code = errno
      if code == ENOENT || code == ENOTDIR || code == ELOOP { return nil }
      throw .cannotRead(errno: code)
    }
    descriptor = opened
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The regular files and folders, sorted by the bytes of their names; links and the rest left out.
  borrowing func entries() throws(MessageFormatError) -> [Entry] {
    let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw .cannotRead(errno: errno) }
    guard let stream = unsafe fdopendir(copy) else {
      let code = errno
      close(copy)
      throw .cannotRead(errno: code)
    }
    defer { unsafe _ = closedir(stream) }
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let record = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafePointer(to: &record.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { start in
          unsafe Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
        }
      }
      if Self.isDot(name) { continue }
      var isFolder = unsafe Int32(record.pointee.d_type) == Int32(DT_DIR)
      if !isFolder, unsafe Int32(record.pointee.d_type) != Int32(DT_REG) {
        guard unsafe Int32(record.pointee.d_type) == Int32(DT_UNKNOWN) else { continue }
        var status = stat()
        guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
        isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard isFolder || status.st_mode & S_IFMT == S_IFREG else { continue }
      }
      entries.append(Entry(name: name, isFolder: isFolder))
    }
    if errno != 0 { throw .cannotRead(errno: errno) }
    entries.sort {
      $0.name.lexicographicallyPrecedes($1.name) { UInt8(bitPattern: $0) < UInt8(bitPattern: $1) }
    }
    return entries
  }

  private static func isDot(_ name: [CChar]) -> Bool {
    let dot = CChar(bitPattern: ASCII.dot)
    return name == [dot, 0] || name == [dot, dot, 0]
  }
}

extension FolderHandle {
  /// A name as the system wants it; nil when it has a slash or a zero, or is no name of an entry.
  static func entryName(_ text: String) -> [CChar]? {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 255, !bytes.contains(ASCII.slash), !bytes.contains(0),
      text != ".", text != ".."
    else { return nil }
    return bytes.map { CChar(bitPattern: $0) } + [0]
  }
}
