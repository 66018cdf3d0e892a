// SPDX-License-Identifier: Apache-2.0
//
// Names for what an export makes before it is complete (Specs/storage.md, "Unfinished exports"). Files need
// one only where the file system has no files without names; folders always do. Who makes such a thing
// locks it (flock), so that one whose maker was killed can be told from one that is being filled.

internal import Glibc

/// Is told of every name that an export makes before it is complete.
public protocol UnfinishedExportRecord: AnyObject, Sendable {
  /// Something may be there under this path from now on; it is absolute.
  func begin(_ path: String)
  /// Nothing is there under this path any more.
  func end(_ path: String)
}

/// A name that shows what it is, and that nobody else uses.
public struct UnfinishedExport {
  /// What every such name begins with; 32 hexadecimal digits follow.
  static let namePrefix = "coffer-unfinished-"
  private static let digitCount = 32

  let path: String
  private let record: (any UnfinishedExportRecord)?

  /// A new name in `folder`, which must be there.
  init(in folder: String, _ record: (any UnfinishedExportRecord)?) throws(MessageFormatError) {
    guard let resolved = unsafe realpath(folder, nil) else {
      throw errno == ENOENT ? .notFound : .cannotWrite(errno: errno)
    }
    defer { unsafe free(resolved) }
    let parent = unsafe String(cString: resolved)
    let digits = (0..<2).map { _ in
      let half = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: Self.digitCount / 2 - half.count) + half
    }
    path = (parent == "/" ? "" : parent) + "/" + Self.namePrefix + digits.joined()
    self.record = record
  }

  func begin() { record?.begin(path) }
  func end() { record?.end(path) }

  /// Locks what was just made under the name, so that no other export takes it for abandoned.
  ///
  /// Where the file system has no locks, no other export removes anything either.
  /// - Throws: `.cannotWrite` when another export was quicker, and removes it now.
  func claim(_ descriptor: Int32) throws(MessageFormatError) {
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      throw .cannotWrite(errno: EWOULDBLOCK)
    }
  }

  /// The folder in which `path` is, or is to be.
  static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  }

  // MARK: What was left

  /// What is under a path that was noted.
  public enum State: Sendable, Equatable {
    /// Nothing.
    case gone
    /// The folder around it is not there now: a medium that was taken out, perhaps.
    case unreachable
    /// A running export fills it.
    case inUse
    /// An export that was killed left it.
    case abandoned
    /// Something else has taken the name, or belongs to another user.
    case notOurs
  }

  /// Looks what is under `path`, which ``UnfinishedExportRecord/begin(_:)`` was told.
  public static func state(of path: String) -> State {
    Abandoned.open(path).state
  }

  /// Removes what a killed export left under `path`, and nothing else.
  /// - Returns: what is there afterwards.
  public static func removeAbandoned(_ path: String) -> State {
    let found = Abandoned.open(path)
    guard found.state == .abandoned else { return found.state }
    let descriptor = found.descriptor
    let isFolder = found.isFolder
    if isFolder { FolderHandle.empty(descriptor) }
    let isRemoved = unsafe isFolder ? rmdir(path) == 0 : unlink(path) == 0
    if isRemoved { SystemWrite.syncFolder(of: path) }
    return isRemoved ? .gone : .abandoned
  }

  /// Whether `name` is one that an export gives.
  private static func isName(_ name: Substring) -> Bool {
    let digits = name.dropFirst(namePrefix.count)
    return name.hasPrefix(namePrefix) && digits.utf8.count == digitCount
      && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// What is under a name; open, and locked, while it is abandoned.
  private struct Abandoned: ~Copyable {
    let state: State
    var isFolder = false
    var descriptor: Int32 = -1

    deinit { if descriptor >= 0 { close(descriptor) } }

    static func open(_ path: String) -> Abandoned {
      guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"),
        isName(path[path.index(after: slash)...])
      else { return Abandoned(state: .notOurs) }
      let opened = unsafe Glibc.open(
        path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
      guard opened >= 0 else {
        // A link is none of ours. What cannot be looked at now may be, so its note stays.
        if errno == ELOOP { return Abandoned(state: .notOurs) }
        guard errno == ENOENT || errno == ENOTDIR else { return Abandoned(state: .unreachable) }
        return Abandoned(state: unsafe access(parent(of: path), F_OK) == 0 ? .gone : .unreachable)
      }
      var status = stat()
      let kind = unsafe fstat(opened, &status) == 0 ? status.st_mode & S_IFMT : 0
      // A file with a second name is more than what an export makes.
      guard status.st_uid == geteuid(), kind == S_IFDIR || (kind == S_IFREG && status.st_nlink == 1) else {
        close(opened)
        return Abandoned(state: .notOurs)
      }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        close(opened)
        return Abandoned(state: .inUse)
      }
      return Abandoned(state: .abandoned, isFolder: kind == S_IFDIR, descriptor: opened)
    }
  }
}
