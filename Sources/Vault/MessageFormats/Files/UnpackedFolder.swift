// SPDX-License-Identifier: Apache-2.0
//
// A folder with whatever is in it, all of it or nothing: everything is written to a temporary folder beside the
// target, which gets its name at the end. Names are opened one by one from the folder, and links are never followed.

internal import CSystem
internal import Glibc
internal import Secrets

/// A folder being filled. If it is dropped before it has its name, it is removed with everything in it.
package final class UnpackedFolder {
  private let target: String
  private let unfinished: UnfinishedExport
  private let folder: Int32
  private var isFinished = false
  /// The folders that were made in it.
  private var innerFolders: [[String]] = []
  private var buffer = SecretBytes(zeroed: 1 << 20)

  /// - Parameters:
  ///   - path: of the folder, which must not exist.
  ///   - record: is told the temporary name.
  package init(path: String, record: (any UnfinishedExportRecord)?) throws(MessageFormatError) {
    target = path
    unfinished = try UnfinishedExport(in: UnfinishedExport.parent(of: path), record, hasFolders: true)
    folder = try unfinished.makeFolder(for: path)
    try unfinished.claim(folder)
  }

  deinit {
    if !isFinished, folder >= 0 {
      FolderHandle.emptyTree(folder)
      if unsafe rmdir(unfinished.path) == 0 { unfinished.end() }
    }
    if folder >= 0 { close(folder) }
  }

  /// Makes a folder, of mode 0700, in folders that were made before.
  /// - Parameter parts: of its name, from the outermost folder; none is `.`, `..` or has a slash.
  package func makeFolder(_ parts: [String]) throws(MessageFormatError) {
    try withParent(of: parts) { (parent, name) throws(MessageFormatError) in
      guard unsafe mkdirat(parent, name, 0o700) == 0 else { throw Self.failure(errno) }
    }
    innerFolders.append(parts)
  }

  /// Writes a file, of mode 0600, in folders that were made before.
  /// - Parameters:
  ///   - source: has the content.
  ///   - offset: where the content begins there.
  ///   - isInterrupted: is asked before each piece.
  /// - Throws: `.cannotWrite` with EINTR when it was interrupted, `.cannotRead` when the source is shorter.
  package func writeFile(
    _ parts: [String], from source: Int32, at offset: Int, byteCount: Int, isInterrupted: () -> Bool
  ) throws(MessageFormatError) {
    try withParent(of: parts) { (parent, name) throws(MessageFormatError) in
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
      let file = unsafe openat(parent, name, flags, 0o600)
      guard file >= 0 else { throw Self.failure(errno) }
      defer { close(file) }
      var done = 0
      while done < byteCount {
        if isInterrupted() { throw .cannotWrite(errno: EINTR) }
        let wanted = min(buffer.count, byteCount - done)
        let got = buffer.withMutableBytes { bytes in
          unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(source, $0.baseAddress, wanted, off_t(offset + done))
          }
        }
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { throw .cannotRead(errno: got < 0 ? errno : EIO) }
        try buffer.withBytes { (bytes) throws(MessageFormatError) in
          try SystemWrite.all(bytes.extracting(first: got), to: file)
        }
        done += got
      }
      // The name of the folder must not last longer than what is in it.
      guard fdatasync(file) == 0 else { throw .cannotWrite(errno: errno) }
    }
  }

  /// Gives the folder its name, unless something has it by now.
  package func finish() throws(MessageFormatError) {
    for parts in innerFolders {
      try withFolder(parts) { (inner) throws(MessageFormatError) in
        guard fsync(inner) == 0 else { throw .cannotWrite(errno: errno) }
      }
    }
    guard fsync(folder) == 0 else { throw .cannotWrite(errno: errno) }
    if unsafe coffer_rename_new(unfinished.path, target) != 0 {
      let code = errno
      guard code == EINVAL || code == ENOSYS else { throw Self.failure(code) }
      // A file system without that call: a rename replaces only an empty folder.
      var status = stat()
      if unsafe lstat(target, &status) == 0 { throw .alreadyExists }
      guard unsafe rename(unfinished.path, target) == 0 else { throw Self.failure(errno) }
    }
    isFinished = true
    unfinished.end()
    try SystemWrite.syncFolder(of: target)
  }

  /// Opens the folder that an entry belongs in.
  private func withParent(
    of parts: [String], _ body: (Int32, String) throws(MessageFormatError) -> Void
  ) throws(MessageFormatError) {
    guard let name = parts.last, FolderHandle.entryName(name) != nil else {
      throw .cannotWrite(errno: EINVAL)
    }
    try withFolder(Array(parts.dropLast())) { (parent) throws(MessageFormatError) in try body(parent, name) }
  }

  /// Opens a folder part by part, and no link.
  private func withFolder(
    _ parts: [String], _ body: (Int32) throws(MessageFormatError) -> Void
  ) throws(MessageFormatError) {
    var opened = folder
    defer { if opened != folder { close(opened) } }
    for part in parts {
      guard let name = FolderHandle.entryName(part) else { throw .cannotWrite(errno: EINVAL) }
      let next = unsafe openat(opened, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      let code = errno
      if opened != folder { close(opened) }
      opened = next < 0 ? folder : next
      guard next >= 0 else { throw .cannotWrite(errno: code) }
    }
    try body(opened)
  }

  private static func failure(_ code: Int32) -> MessageFormatError {
    code == EEXIST || code == ENOTEMPTY ? .alreadyExists : .cannotWrite(errno: code)
  }
}
