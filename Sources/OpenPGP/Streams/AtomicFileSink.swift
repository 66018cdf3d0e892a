// SPDX-License-Identifier: Apache-2.0
//
// A file that appears under its name when all of it is there, and not before.

internal import Glibc
internal import Primitives

/// Writes a new file: under a name of its own first, in the same directory, readable by its owner alone.
public final class AtomicFileSink: ByteSink {
  private let path: String
  private let directory: String
  private let temporaryPath: String
  private let descriptor: Int32
  private let sink: FileDescriptorSink
  private var isCommitted = false

  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at `path`.
  public init(path: String) throws(OpenPGPError) {
    guard unsafe access(path, F_OK) != 0 else { throw .inputOutput(errno: EEXIST) }
    self.path = path
    directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    temporaryPath = directory + ".coffer-" + Hexadecimal.text(SystemRandom.publicBytes(count: 12))
    descriptor = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .inputOutput(errno: errno) }
    sink = FileDescriptorSink(descriptor: descriptor)
  }

  deinit {
    if !isCommitted { unsafe unlink(temporaryPath) }
    close(descriptor)
  }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { try sink.write(bytes) }

  /// Writes everything to the disk and gives the file its name. Without it nothing remains.
  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at the path by now.
  public func commit() throws(OpenPGPError) {
    try sink.flush()
    guard fsync(descriptor) == 0 else { throw .inputOutput(errno: errno) }
    // A link is made only where nothing is; renaming would replace what came there meanwhile.
    guard unsafe link(temporaryPath, path) == 0 else { throw .inputOutput(errno: errno) }
    unsafe unlink(temporaryPath)
    isCommitted = true
    let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .inputOutput(errno: errno) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .inputOutput(errno: errno) }
  }
}
