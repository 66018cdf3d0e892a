// SPDX-License-Identifier: Apache-2.0
//
// Temporary names of exports that are not complete (Specs/storage.md, "Unfinished exports"). Folders always
// need one, files only if the file system has no files without names. The exporting process holds a lock
// (flock), which tells an abandoned export from a running one.

internal import Glibc

/// Records every temporary name of an export.
public protocol UnfinishedExportRecord: AnyObject, Sendable {
  /// From now on something may exist at this absolute path.
  func begin(_ path: String)
  /// Nothing exists at this path any more.
  func end(_ path: String)
}

/// A temporary name that is recognisable and unique.
public struct UnfinishedExport {
  /// The prefix of every such name; 32 hexadecimal digits follow.
  static let namePrefix = "coffer-unfinished-"
  /// The prefix for a folder with folders in it, which an archive is unpacked to.
  static let treePrefix = "coffer-unpacking-"
  private static let digitCount = 32

  let path: String
  private let record: (any UnfinishedExportRecord)?

  /// A new name in `folder`, which must be there.
  /// - Parameter hasFolders: whether it is for a folder that folders are made in.
  init(
    in folder: String, _ record: (any UnfinishedExportRecord)?, hasFolders: Bool = false
  ) throws(MessageFormatError) {
    guard let resolved = unsafe realpath(folder, nil) else {
      throw errno == ENOENT ? .notFound : .cannotWrite(errno: errno)
    }
    defer { unsafe free(resolved) }
    let parent = unsafe String(cString: resolved)
    let prefix = hasFolders ? Self.treePrefix : Self.namePrefix
    let digits = (0..<2).map { _ in
      let half = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: Self.digitCount / 2 - half.count) + half
    }
    path = (parent == "/" ? "" : parent) + "/" + prefix + digits.joined()
    self.record = record
  }

  func begin() { record?.begin(path) }
  func end() { record?.end(path) }

  /// Makes the folder, of mode 0700, that gets the name `target` when it is complete. It is to be claimed.
  /// - Returns: its descriptor, which the caller closes.
  /// - Throws: `.alreadyExists` when something has that name; `.notFound`, `.cannotWrite`.
  func makeFolder(for target: String) throws(MessageFormatError) -> Int32 {
    var status = stat()
    if unsafe lstat(target, &status) == 0 { throw .alreadyExists }
    begin()
    guard unsafe mkdir(path, 0o700) == 0 else {
      let code = errno
      end()
      throw code == ENOENT ? .notFound : .cannotWrite(errno: code)
    }
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard folder >= 0 else {
      let code = errno
      unsafe rmdir(path)
      end()
      throw .cannotWrite(errno: code)
    }
    return folder
  }

  /// Locks the new file or folder, so that no other export takes it for abandoned.
  ///
  /// Where the file system has no locks, no other export removes anything either.
  /// - Throws: `.cannotWrite` when another export was faster, and is removing it.
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

  /// The state of a recorded path.
  public enum State: Sendable, Equatable {
    /// Nothing.
    case gone
    /// The parent folder is missing, perhaps because a medium was removed.
    case unreachable
    /// A running export fills it.
    case inUse
    /// An export that was killed left it.
    case abandoned
    /// Something else has taken the name, or belongs to another user.
    case notOurs
  }

  /// The state of `path`, which was recorded by ``UnfinishedExportRecord/begin(_:)``.
  public static func state(of path: String) -> State {
    Abandoned.open(path).state
  }

  /// Removes `path` if a killed export left it, and nothing else.
  /// - Returns: the state of the path afterwards.
  public static func removeAbandoned(_ path: String) -> State {
    let found = Abandoned.open(path)
    guard found.state == .abandoned else { return found.state }
    let descriptor = found.descriptor
    let isFolder = found.isFolder
    if isFolder {
      // A folder in what is never made with folders is none of ours.
      if found.hasFolders { FolderHandle.emptyTree(descriptor) } else { FolderHandle.empty(descriptor) }
    }
    let isRemoved = unsafe isFolder ? rmdir(path) == 0 : unlink(path) == 0
    if isRemoved { try? SystemWrite.syncFolder(of: path) }
    return isRemoved ? .gone : .abandoned
  }

  /// Whether `name` is one that an export gives.
  private static func isName(_ name: Substring, prefix: String) -> Bool {
    let digits = name.dropFirst(prefix.count)
    return name.hasPrefix(prefix) && digits.utf8.count == digitCount
      && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// The state of a name; for an abandoned export with its file, open and locked.
  private struct Abandoned: ~Copyable {
    let state: State
    var isFolder = false
    /// Whether folders were made in it.
    var hasFolders = false
    var descriptor: Int32 = -1

    deinit { if descriptor >= 0 { close(descriptor) } }

    static func open(_ path: String) -> Abandoned {
      guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else {
        return Abandoned(state: .notOurs)
      }
      let name = path[path.index(after: slash)...]
      let hasFolders = isName(name, prefix: treePrefix)
      guard hasFolders || isName(name, prefix: namePrefix) else { return Abandoned(state: .notOurs) }
      let opened = unsafe Glibc.open(
        path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0)
      guard opened >= 0 else {
        // A link is not ours. A path that cannot be examined now may be ours, so its record stays.
        if errno == ELOOP { return Abandoned(state: .notOurs) }
        guard errno == ENOENT || errno == ENOTDIR else { return Abandoned(state: .unreachable) }
        return Abandoned(state: unsafe access(parent(of: path), F_OK) == 0 ? .gone : .unreachable)
      }
      var status = stat()
      let kind = unsafe fstat(opened, &status) == 0 ? status.st_mode & S_IFMT : 0
      // Exports never make files with a second name.
      guard status.st_uid == geteuid(), kind == S_IFDIR || (kind == S_IFREG && status.st_nlink == 1) else {
        close(opened)
        return Abandoned(state: .notOurs)
      }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        close(opened)
        return Abandoned(state: .inUse)
      }
      return Abandoned(
        state: .abandoned, isFolder: kind == S_IFDIR, hasFolders: hasFolders, descriptor: opened)
    }
  }
}
