// SPDX-License-Identifier: Apache-2.0
//
// Sources and sinks on descriptors and files. Each system call is tried again when a signal interrupts it.
//
// A file that is written appears under its name when it is complete, and not before. Until then it has no
// name at all if the file system knows such files, so that nothing of it stays if the process is killed.

internal import CSystem
internal import Glibc
internal import Primitives
internal import Secrets

/// Reads a descriptor once, into memory for secrets.
public final class FileDescriptorSource: ByteSource {
  private let descriptor: Descriptor
  private var buffer = SecretBytes(zeroed: 0)
  private var lent = 0..<0

  /// Reads `descriptor` from its current position to the end, and leaves it open.
  public init(descriptor: Int32) { self.descriptor = Descriptor(number: descriptor) }

  /// See ``ByteSource/withNext(_:)``.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    if lent.isEmpty { try fill() }
    return try buffer.withBytes { (bytes) throws(OpenPGPError) -> R in try body(bytes.extracting(lent)) }
  }

  /// See ``ByteSource/consume(_:)``.
  public func consume(_ count: Int) {
    precondition(count <= lent.count, "more was consumed than lent")
    lent = lent.lowerBound + count..<lent.upperBound
  }

  /// See ``ByteSource/read(into:)``.
  public func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    let buffered = min(lent.count, target.byteCount)
    buffer.withBytes { target.copy($0.extracting(lent.lowerBound..<lent.lowerBound + buffered), to: 0) }
    consume(buffered)
    guard target.byteCount - buffered >= Self.directByteCount else {
      return try readLent(into: &target, from: buffered)
    }
    return try descriptor.readAll(into: &target, from: buffered, to: target.byteCount, position: nil)
  }

  private func fill() throws(OpenPGPError) {
    if buffer.count == 0 { buffer = SecretBytes(zeroed: Self.bufferByteCount) }
    let end = try buffer.withMutableBytes { (bytes) throws(OpenPGPError) in
      try descriptor.read(into: &bytes, from: 0, to: bytes.byteCount, position: nil)
    }
    lent = 0..<end
  }

  /// Enough that the system calls cost nothing, and it stays in the processor's cache.
  private static let bufferByteCount = 128 << 10
  /// Reads of at least this many bytes go straight to the caller's memory.
  private static let directByteCount = 32 << 10
}

/// Writes to a descriptor, in large pieces.
public final class FileDescriptorSink: ByteSink {
  private let descriptor: Descriptor
  private var buffer = SecretBytes(zeroed: bufferByteCount)
  private var filled = 0

  /// `descriptor` stays open.
  public init(descriptor: Int32) { self.descriptor = Descriptor(number: descriptor) }

  /// See ``ByteSink/write(_:)``.
  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    if bytes.byteCount <= buffer.count - filled {
      buffer.withMutableBytes { $0.copy(bytes, to: filled) }
      filled += bytes.byteCount
    } else {
      try writeOut(bytes)
    }
  }

  /// Writes the bytes that are still here. Without it the last bytes are lost.
  public func flush() throws(OpenPGPError) { try writeOut(RawSpan()) }

  /// Writes the gathered bytes, and then `bytes`.
  private func writeOut(_ bytes: RawSpan) throws(OpenPGPError) {
    let count = filled
    filled = 0
    try buffer.withBytes { (buffered) throws(OpenPGPError) in
      try descriptor.write(buffered.extracting(0..<count), bytes)
    }
  }

  /// Headers and small parts are gathered; larger ones go straight to the descriptor.
  private static let bufferByteCount = 64 << 10
}

/// Writes a new file, readable by its owner alone.
public final class AtomicFileSink: ByteSink {
  private let path: String
  private let directory: String
  /// What the file is called until it is complete; nil when it has no name.
  private let temporaryPath: String?
  private let descriptor: Int32
  private let sink: FileDescriptorSink
  private var isCommitted = false
  /// How many bytes were written, and how many of them are on their way to the disk.
  private var written = 0
  private var started = 0

  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at `path`.
  public init(path: String) throws(OpenPGPError) {
    // Also a link that leads nowhere has the name.
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else { throw .inputOutput(errno: EEXIST) }
    self.path = path
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    self.directory = directory
    let unnamed = unsafe coffer_open_unnamed(directory, O_WRONLY)
    if unnamed >= 0 {
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

  /// See ``ByteSink/write(_:)``.
  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    try sink.write(bytes)
    written += bytes.byteCount
    // The disk works while the next bytes are made, so that little is left to wait for at the end.
    guard written - started >= Self.startByteCount else { return }
    coffer_start_writing(descriptor, Int64(started), Int64(written - started))
    started = written
  }

  private static let startByteCount = 8 << 20

  /// Writes everything to the disk, still without the name: a full disk fails here.
  public func sync() throws(OpenPGPError) {
    try sink.flush()
    guard fsync(descriptor) == 0 else { throw .inputOutput(errno: errno) }
  }

  /// Where the file system has no links, as on most memory sticks.
  private func rename(_ temporaryPath: String) throws(OpenPGPError) {
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .inputOutput(errno: errno) }
    if unsafe coffer_rename_new(temporaryPath, path) == 0 { return }
    guard errno == EINVAL else { throw .inputOutput(errno: errno) }
    // Between the two calls a file that somebody makes there could be replaced; nothing better is there.
    guard unsafe access(path, F_OK) != 0 else { throw .inputOutput(errno: EEXIST) }
    guard unsafe Glibc.rename(temporaryPath, path) == 0 else { throw .inputOutput(errno: errno) }
  }

  /// Writes everything to the disk and gives the file its name. Without it nothing remains.
  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at the path by now. Then nothing
  ///   of it has the name.
  public func commit() throws(OpenPGPError) {
    try sync()
    // A link is made only where nothing is; renaming would replace a file that was made there meanwhile.
    if let temporaryPath {
      if unsafe link(temporaryPath, path) == 0 {
        unsafe unlink(temporaryPath)
      } else {
        try rename(temporaryPath)
      }
    } else {
      guard unsafe coffer_name_unnamed(descriptor, path) == 0 else { throw .inputOutput(errno: errno) }
    }
    isCommitted = true
    do throws(OpenPGPError) { try syncFolder() } catch {
      retract()
      throw error
    }
  }

  /// Takes the name away again, if the file has it: nothing of it is left then.
  public func retract() { if isCommitted { unsafe unlink(path) } }

  /// Makes the name durable.
  private func syncFolder() throws(OpenPGPError) {
    let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .inputOutput(errno: errno) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .inputOutput(errno: errno) }
  }
}

/// A file without a name, which is gone when the last that has it open goes.
final class TemporaryFile {
  let descriptor: Descriptor

  /// In `TMPDIR`, else in the directory for large temporary files.
  init() throws(OpenPGPError) {
    let directory = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/var/tmp"
    var number = unsafe coffer_open_unnamed(directory, O_RDWR | O_EXCL)
    if number < 0 {
      // Not every file system has files without names.
      let path = directory + "/.coffer-" + Hexadecimal.text(SystemRandom.publicBytes(count: 12))
      number = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard number >= 0, unsafe unlink(path) == 0 else { throw .inputOutput(errno: errno) }
    }
    descriptor = Descriptor(number: number)
  }

  deinit { close(descriptor.number) }
}

/// A descriptor that the caller opened and closes.
struct Descriptor {
  let number: Int32

  /// Fills `target` from `start` on, up to `end`, with what a single call gives.
  /// - Parameter position: where in the file to read; nil reads on at the descriptor's position.
  /// - Returns: how many bytes of `target` are filled then; no more than before at the end.
  func read(
    into target: inout MutableRawSpan, from start: Int, to end: Int, position: Int?
  ) throws(OpenPGPError) -> Int {
    let got = unsafe target.withUnsafeMutableBytes { target in
      let free = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<end])
      while true {
        let got =
          unsafe position.map { unsafe pread(number, free.baseAddress, free.count, $0) }
          ?? Glibc.read(number, free.baseAddress, free.count)
        if got >= 0 || errno != EINTR { return got }
      }
    }
    guard got >= 0 else { throw .inputOutput(errno: errno) }
    return start + got
  }

  /// As ``read(into:from:to:position:)``, until `target` is filled up to `end` or the input ends.
  func readAll(
    into target: inout MutableRawSpan, from start: Int, to end: Int, position: Int?
  ) throws(OpenPGPError) -> Int {
    var filled = start
    while filled < end {
      let next = try read(
        into: &target, from: filled, to: end, position: position.map { $0 + filled - start })
      if next == filled { break }
      filled = next
    }
    return filled
  }

  /// Writes all of `first` and then of `second`.
  func write(_ first: RawSpan, _ second: RawSpan) throws(OpenPGPError) {
    var done = 0
    let total = first.byteCount + second.byteCount
    while done < total {
      let written = unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          unsafe writeOnce(
            UnsafeRawBufferPointer(rebasing: first[min(done, first.count)...]),
            UnsafeRawBufferPointer(rebasing: second[max(0, done - first.count)...]))
        }
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw .inputOutput(errno: errno)
      }
      done += written
    }
  }

  private func writeOnce(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
    let parts = unsafe [
      iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count),
    ]
    return unsafe writev(number, parts, 2)
  }
}
