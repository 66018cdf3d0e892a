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

  /// Gives the file its name, if nothing has it. The name is durable once its folder is.
  package func claimName() throws(MessageFormatError) {
    if let unfinished {
      try Self.claim(target, from: unfinished.path)
      hasName = true
      unfinished.end()
      return
    }
    guard unsafe coffer_name_unnamed(descriptor, target) == 0 else {
      throw errno == EEXIST ? .alreadyExists : .cannotWrite(errno: errno)
    }
    hasName = true
  }

  private static func claim(_ target: String, from temporary: String) throws(MessageFormatError) {
    // A hard link fails when the name is taken, which a rename does not.
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
