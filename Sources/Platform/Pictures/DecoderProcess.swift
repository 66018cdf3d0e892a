// SPDX-License-Identifier: Apache-2.0
//
// One process that decodes, from its start to its end. Its standard input and output are one socket and not
// two pipes, since a write to a socket can be told not to raise SIGPIPE. Both sides speak in turn: the answer
// begins when the whole question has arrived, so neither side waits for the other to read; and every wait
// ends at the deadline.

internal import CSystem
internal import Glibc

/// A running process, killed and collected when this object goes: it leaves neither zombie nor descriptor.
///
/// A class and not a move-only structure: in debug builds, Swift 6.3 forgets the `deinit` of a structure
/// from another file, if it has a field whose layout is only known when the program runs (the deadline).
final class DecoderProcess {
  private let socket: Int32
  private let deadline: ContinuousClock.Instant
  /// 0 when it has been collected.
  private var process: pid_t

  init(_ executable: String, arguments: [String], deadline: Duration) throws(PictureError) {
    self.deadline = .now + deadline
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .cannotStart }
    let process = DecoderProcess.start(executable, arguments, ends[1])
    close(ends[1])
    guard let process else {
      close(ends[0])
      throw .cannotStart
    }
    self.process = process
    socket = ends[0]
  }

  deinit {
    close(socket)
    guard process != 0 else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// Sends all of both.
  /// - Throws: ``PictureError/timedOut``; ``PictureError/crashed`` when the process is gone.
  func send(_ first: RawSpan, _ second: RawSpan) throws(PictureError) {
    try send(first)
    try send(second)
  }

  private func send(_ bytes: RawSpan) throws(PictureError) {
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    var sent = 0
    while sent < bytes.byteCount {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(
          socket, bytes.baseAddress! + sent, bytes.count - sent, flags)
      }
      if count > 0 {
        sent += count
      } else if count < 0 && (errno == EPIPE || errno == ECONNRESET) {
        // It may have answered without reading to the end; the answer can still be read.
        return
      } else {
        try wait(for: POLLOUT)
      }
    }
  }

  /// Fills `bytes`.
  /// - Throws: as ``send(_:_:)``.
  func receive(_ bytes: inout MutableRawSpan) throws(PictureError) {
    let flags = Int32(MSG_DONTWAIT)
    var received = 0
    while received < bytes.byteCount {
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe recv(
          socket, bytes.baseAddress! + received, bytes.count - received, flags)
      }
      if count > 0 {
        received += count
      } else if count == 0 || errno == ECONNRESET {
        throw .crashed
      } else {
        try wait(for: POLLIN)
      }
    }
  }

  /// After a read or a write that could not go on: waits until it can, or throws what is wrong.
  private func wait(for event: Int32) throws(PictureError) {
    guard errno == EAGAIN || errno == EINTR else { throw .crashed }
    let left = deadline - .now
    guard left > .zero else { throw .timedOut }
    let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
    var descriptor = pollfd(fd: socket, events: Int16(event), revents: 0)
    _ = unsafe poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
  }

  /// Why the process is gone, as its end tells it; collects it.
  func causeOfDeath() -> PictureError {
    // It has closed its end of the socket, which only happens on the way out; but it is not trusted.
    kill(process, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    process = 0
    return status & 0x7F == SIGXCPU ? .timedOut : .crashed
  }

  /// Starts the program with `end` as its standard input and output, and next to no environment.
  private static func start(_ executable: String, _ arguments: [String], _ end: Int32) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    // The variables that the loader may need; and the runtime must not start a backtrace, which the sandbox
    // forbids.
    var environment = ["SWIFT_BACKTRACE=enable=no"]
    if let path = unsafe getenv("LD_LIBRARY_PATH") {
      environment.append("LD_LIBRARY_PATH=\(unsafe String(cString: path))")
    }
    var argumentPointers = unsafe ([executable] + arguments).map { unsafe strdup($0) } + [nil]
    var environmentPointers = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argumentPointers + environmentPointers).forEach { unsafe free($0) } }
    var process = pid_t()
    let failure = unsafe posix_spawn(
      &process, executable, &actions, &attributes, &argumentPointers, &environmentPointers)
    return failure == 0 ? process : nil
  }
}
