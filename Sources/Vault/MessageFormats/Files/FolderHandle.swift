// SPDX-License-Identifier: Apache-2.0
//
// Folders by descriptor: a symbolic link cannot redirect what is opened below one.

internal import CSystem
internal import Glibc

/// An open folder; closed when it goes.
struct FolderHandle: ~Copyable {
  let descriptor: Int32

  /// The kind of an entry of a folder.
  enum Kind: Sendable { case file, folder, link, special }

  /// One name in a folder.
  struct Entry: Sendable {
    /// With its final zero; names are bytes and need not be UTF-8.
    var name: [CChar]
    var kind: Kind

    var isFolder: Bool { kind == .folder }

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

  /// Everything in it, sorted by the bytes of the names.
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
      let type = unsafe Int32(record.pointee.d_type)
      entries.append(Entry(name: name, kind: kind(ofType: type, name)))
    }
    if errno != 0 { throw .cannotRead(errno: errno) }
    entries.sort {
      $0.name.lexicographicallyPrecedes($1.name) { UInt8(bitPattern: $0) < UInt8(bitPattern: $1) }
    }
    return entries
  }

  /// The kind from the folder's entry or, if the file system does not store it there, from the file.
  private borrowing func kind(ofType type: Int32, _ name: [CChar]) -> Kind {
    switch type {
    case Int32(DT_REG): return .file
    case Int32(DT_DIR): return .folder
    case Int32(DT_LNK): return .link
    case Int32(DT_UNKNOWN): break
    default: return .special
    }
    var status = stat()
    guard unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .file }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    case S_IFLNK: return .link
    default: return .special
    }
  }

  /// Removes the files of a folder that holds no folders.
  static func empty(_ folder: Int32) {
    let copy = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { return }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      return
    }
    defer { unsafe _ = closedir(stream) }
    while let record = unsafe readdir(stream) {
      unsafe withUnsafePointer(to: &record.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
          unsafe _ = unlinkat(folder, name, 0)
        }
      }
    }
  }

  static func isDot(_ name: [CChar]) -> Bool {
    let dot = CChar(bitPattern: ASCII.dot)
    return name == [dot, 0] || name == [dot, dot, 0]
  }
}

extension FolderHandle {
  /// A name for system calls; nil when it has a slash or a zero byte, or cannot be the name of an entry.
  static func entryName(_ text: String) -> [CChar]? {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, bytes.count <= 255, !bytes.contains(ASCII.slash), !bytes.contains(0),
      text != ".", text != ".."
    else { return nil }
    return bytes.map { CChar(bitPattern: $0) } + [0]
  }
}
