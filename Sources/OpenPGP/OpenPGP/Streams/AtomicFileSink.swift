// SPDX-License-Identifier: Apache-2.0
//
// A file that appears under its name when all of it is there, and not before. Until then it has no name at all
// where the file system knows such files, so that nothing of it stays when the process is killed.

internal import Glibc
internal import Primitives

/// Writes a new file, readable by its owner alone.
public final class AtomicFileSink: ByteSink {
  private let path: String
  private let directory: String
  /// What the file is called until it is complete; nil when it has no name.
  private let temporaryPath: String?
  private let descriptor: Int32
  private let sink: FileDescriptorSink
  private var isCommitted = false

  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at `path`.
  public init(path: String) throws(OpenPGPError) {
    guard unsafe access(path, F_OK) != 0 else { throw .inputOutput(errno: EEXIST) }
    self.path = path
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    self.directory = directory
    if let unnamed = Self.openUnnamed(in: directory) {
      temporaryPath = nil
      descriptor = unnamed
    } else {
      let temporary = directory + ".coffer-" + Hexadecimal.text(SystemRandom.publicBytes(count: 12))
      temporaryPath = temporary
      descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .inputOutput(errno: errno) }
    }
    sink = FileDescriptorSink(descriptor: descriptor)
  }

  deinit {
    if !isCommitted, let temporaryPath { unsafe unlink(temporaryPath) }
    close(descriptor)
  }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { try sink.write(bytes) }

  /// Writes everything to the disk, still without the name: what can fail for want of room fails here.
  public func sync() throws(OpenPGPError) {
    try sink.flush()
    guard fsync(descriptor) == 0 else { throw .inputOutput(errno: errno) }
  }

  /// Writes everything to the disk and gives the file its name. Without it nothing remains.
  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at the path by now.
  public func commit() throws(OpenPGPError) {
    try sync()
    // A link is made only where nothing is; renaming would replace what came there meanwhile.
    if let temporaryPath {
      guard unsafe link(temporaryPath, path) == 0 else { throw .inputOutput(errno: errno) }
      unsafe unlink(temporaryPath)
    } else {
      let place = Self.place(of: descriptor)
      guard unsafe linkat(AT_FDCWD, place, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
        throw .inputOutput(errno: errno)
      }
    }
    isCommitted = true
    let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .inputOutput(errno: errno) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .inputOutput(errno: errno) }
  }

  /// A file without a name; nil where there are none, or where nobody could give it one.
  private static func openUnnamed(in directory: String) -> Int32? {
    let descriptor = unsafe open(directory, TemporaryFile.unnamed | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    guard unsafe access(place(of: descriptor), F_OK) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// What a file without a name can be linked from.
  private static func place(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }
}
