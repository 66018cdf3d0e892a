// SPDX-License-Identifier: Apache-2.0
//
// A file that has no name until all of it is there (O_TMPFILE): if the process ends before, the kernel
// removes it. Mode 0600; nothing is ever overwritten. If the file system has no files without names, the file
// has a temporary one until it is complete.

internal import CSystem
internal import Glibc

/// A file being written. If it is dropped before it has its name, it is removed.
package final class UnnamedFile {
  /// For writing, and for reading what was written.
  package let descriptor: Int32
  private let target: String
  /// The temporary name, if it must have one.
  private let unfinished: UnfinishedExport?
  private var hasName = false

  /// - Parameters:
  ///   - path: must not exist.
  ///   - record: is told of a name that the file has meanwhile.
  ///   - needsName: whether to use a temporary name even if the file system has files without names.
  package init(
    path: String, record: (any UnfinishedExportRecord)? = nil, needsName: Bool = false
  ) throws(MessageFormatError) {
    var status = stat()
    if unsafe lstat(path, &status) == 0 { throw .alreadyExists }
    guard !path.isEmpty, !path.hasSuffix("/") else { throw .notFound }
    target = path
    let folder = UnfinishedExport.parent(of: path)
    if !needsName {
      let opened = unsafe coffer_open_unnamed(folder, O_RDWR)
      if opened >= 0 {
        descriptor = opened
        unfinished = nil
        return
      }
      guard errno == EOPNOTSUPP else {
        throw errno == ENOENT ? .notFound : .cannotWrite(errno: errno)
      }
    }
    let named = try UnfinishedExport(in: folder, record)
    named.begin()
    descriptor = unsafe open(named.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    unfinished = named
    guard descriptor >= 0 else {
      let code = errno
      named.end()
      throw code == ENOENT ? .notFound : .cannotWrite(errno: code)
    }
    try named.claim(descriptor)
  }

  deinit {
    guard descriptor >= 0 else { return }
    if let unfinished, !hasName {
      unsafe unlink(unfinished.path)
      unfinished.end()
    }
    close(descriptor)
  }

  /// Makes durable what was written.
  package func synchronise() throws(MessageFormatError) {
    guard fsync(descriptor) == 0 else { throw .cannotWrite(errno: errno) }
  }

  /// Gives the file its name, if nothing has it, and makes the name durable, as far as the file system can.
  /// - Throws: `.alreadyExists`; `.cannotWrite`. Then nothing has the name that had it not before.
  package func claimName() throws(MessageFormatError) {
    if let unfinished {
      try Self.claim(target, from: unfinished.path)
    } else if unsafe coffer_name_unnamed(descriptor, target) != 0 {
      throw errno == EEXIST ? .alreadyExists : .cannotWrite(errno: errno)
    }
    do throws(MessageFormatError) { try SystemWrite.syncFolder(of: target) } catch {
      unsafe unlink(target)
      throw error
    }
    hasName = true
    // Only now: while the name could be lost, the note says where the file is.
    unfinished?.end()
  }

  private static func claim(_ target: String, from temporary: String) throws(MessageFormatError) {
    if unsafe coffer_rename_new(temporary, target) == 0 { return }
    if errno == EEXIST { throw .alreadyExists }
    guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else {
      throw .cannotWrite(errno: errno)
    }
    // Some file systems cannot do this, but they have hard links, which fail when the name is taken, too.
    if unsafe link(temporary, target) == 0 {
      unsafe unlink(temporary)
      return
    }
    if errno == EEXIST { throw .alreadyExists }
    guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK else {
      throw .cannotWrite(errno: errno)
    }
    // File systems without hard links (FAT): look, then rename.
    var status = stat()
    if unsafe lstat(target, &status) == 0 { throw .alreadyExists }
    guard unsafe rename(temporary, target) == 0 else { throw .cannotWrite(errno: errno) }
  }
}
