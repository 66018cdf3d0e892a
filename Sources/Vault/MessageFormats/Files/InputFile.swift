// SPDX-License-Identifier: Apache-2.0
//
// Reading one file, or standard input, into reused buffers. A symbolic link that the owner names is
// followed; one found inside of a folder is not. A file that the owner names may be compressed with gzip, and so may
// a mail of a Maildir.

internal import CSystem
internal import Glibc
internal import Secrets

/// An open file to read from; closed when it goes.
struct InputFile: ~Copyable {
  private let descriptor: Int32
  private let isOwned: Bool
  /// Becomes readable to stop reading; -1 when nobody can stop it.
  private let stop: Int32
  /// Nil for a pipe or a terminal, and for what comes out of a compressed file.
  let byteCount: Int?
  /// Of the last change; zero for a pipe.
  let modified: Int64
  /// Pipes and devices can keep a reader waiting.
  let isRegular: Bool
  private let gzip: GzipStream?

  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - stop: a descriptor that is readable once waiting for input is to end.
  ///   - standardInput: the descriptor of standard input.
  init(
    path: String, stop: Int32? = nil, standardInput: Int32 = STDIN_FILENO
  ) throws(MessageFormatError) {
    if path == "-" {
      try self.init(descriptor: standardInput, isOwned: false, mayBeGzip: true, stop: stop)
      return
    }
    // A plain `open` of a FIFO without a writer would wait, and could not be stopped.
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)
    guard opened >= 0 else { throw errno == ENOENT ? .notFound : .cannotRead(errno: errno) }
    try self.init(descriptor: opened, isOwned: true, mayBeGzip: true, stop: stop)
  }

  /// A regular file that an open folder holds under `name`; nil when it is anything else, or has gone.
  static func entry(
    _ name: [CChar], in folder: borrowing FolderHandle, mayBeGzip: Bool = false
  ) throws(MessageFormatError) -> InputFile? {
    let opened = unsafe openat(
      folder.descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard opened >= 0 else {
      let code = errno
      if code == ENOENT || code == ELOOP || code == ENXIO { return nil }
      throw .cannotRead(errno: code)
    }
    var status = stat()
    guard unsafe fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(opened)
      return nil
    }
    return try InputFile(descriptor: opened, isOwned: true, mayBeGzip: mayBeGzip)
  }

  private init(
    descriptor: Int32, isOwned: Bool, mayBeGzip: Bool = false, stop: Int32? = nil
  ) throws(MessageFormatError) {
    // Everything that can fail comes before the first property is set: with optimization, Swift 6.3.1 releases
    // garbage in an initializer of a move-only type that throws later.
    var status = stat()
    var problem: MessageFormatError?
    var stream: GzipStream?
    if unsafe fstat(descriptor, &status) != 0 { problem = .cannotRead(errno: errno) }
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { problem = .wrongKind }
    let isGzip = mayBeGzip && kind == S_IFREG && Self.beginsGzip(descriptor)
    if isGzip {
      do { stream = try GzipStream() } catch { problem = error }
    }
    if let problem {
      if isOwned { close(descriptor) }
      throw problem
    }
    self.descriptor = descriptor
    self.isOwned = isOwned
    self.stop = stop ?? -1
    isRegular = kind == S_IFREG
    gzip = stream
    byteCount = isRegular && !isGzip ? Int(status.st_size) : nil
    modified = isRegular ? Int64(status.st_mtim.tv_sec) : 0
  }

  /// Whether a regular file goes on like gzip where it is read next.
  private static func beginsGzip(_ descriptor: Int32) -> Bool {
    var beginning: [UInt8] = [0, 0, 0]
    let count = unsafe beginning.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, max(0, lseek(descriptor, 0, SEEK_CUR)))
    }
    guard count == beginning.count else { return false }
    return GzipStream.isGzip(beginning.rawSpan)
  }

  deinit { if isOwned { close(descriptor) } }

  /// Appends the bytes of one read to `buffer`; returns how many, zero at the end.
  borrowing func read(into buffer: inout ByteBuffer) throws(MessageFormatError) -> Int {
    guard let gzip else { return try readStored(into: &buffer) }
    let before = buffer.count
    try unsafe buffer.appendFilling(atLeast: 1) { (free) throws(MessageFormatError) in
      try unsafe gzip.read(into: free) { (more) throws(MessageFormatError) in try readStored(into: &more) }
    }
    return buffer.count - before
  }

  /// Reads what is in the file, compressed or not.
  private borrowing func readStored(into buffer: inout ByteBuffer) throws(MessageFormatError) -> Int {
    let before = buffer.count
    try unsafe buffer.appendFilling(atLeast: 1) { (free) throws(MessageFormatError) in
      while true {
        if byteCount == nil { try awaitInput() }
        let count = unsafe Glibc.read(descriptor, free.baseAddress, free.count)
        if count >= 0 { return count }
        if errno != EINTR, errno != EAGAIN { throw .cannotRead(errno: errno) }
      }
    }
    return buffer.count - before
  }

  /// Waits until there is something to read, or reading is to stop.
  private borrowing func awaitInput() throws(MessageFormatError) {
    var watched = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&watched, nfds_t(watched.count), -1) < 0 {
      if errno != EINTR { throw .cannotRead(errno: errno) }
    }
    if watched[1].revents != 0 { throw .interrupted }
  }

  /// Replaces the content of `buffer` by the whole file.
  borrowing func readAll(into buffer: inout ByteBuffer) throws(MessageFormatError) {
    let limit = MessageLimits.messageByteCount
    let expected = byteCount ?? 0
    guard expected <= limit else { throw .messageTooLarge(byteCount: expected, limit: limit) }
    buffer.removeAll()
    // One byte more than the file has, so that its end shows without growing.
    buffer.reserve(expected + 1)
    while try read(into: &buffer) > 0 {
      guard buffer.count <= limit else { throw .messageTooLarge(byteCount: buffer.count, limit: limit) }
    }
  }
}
