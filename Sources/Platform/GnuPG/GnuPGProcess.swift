// SPDX-License-Identifier: Apache-2.0
//
// One run of gpg: its output goes through a pipe into locked memory a piece at a time, and is lent on from there. It has
// no descriptor of ours but the pipes, and only the variables that it is given. A run that does not end in time is
// killed; none is left.

internal import CSystem
internal import Glibc
internal import Primitives
internal import Secrets

/// What is run, and how long it may take.
struct GnuPGCall {
  let program: String
  let arguments: [String]
  /// `NAME=VALUE`.
  let environment: [String]
  /// Given on the descriptor ``GnuPGProcess/passphraseDescriptor``.
  var passphrase: SharedSecretBytes?
  /// Bytes of its output.
  let byteCountLimit: Int
  let seconds: Int
}

struct GnuPGProcess: ~Copyable {
  /// Where it writes its status lines.
  static let statusDescriptor: Int32 = 3
  /// Where it reads the passphrase.
  static let passphraseDescriptor: Int32 = 4
  /// Bytes of all status lines together.
  private static let statusByteCountLimit = 1 << 20
  private static let pieceByteCount = 1 << 16

  private var process: pid_t = 0
  private var output = Pipe()
  private var status = Pipe()
  private var passphrase = Pipe()
  private var statusBytes: [UInt8] = []
  private var outputByteCount = 0

  /// Both ends of a pipe; -1 for one that is closed.
  private struct Pipe {
    var reading: Int32 = -1
    var writing: Int32 = -1

    mutating func closeReading() {
      if reading >= 0 { close(reading) }
      reading = -1
    }

    mutating func closeWriting() {
      if writing >= 0 { close(writing) }
      writing = -1
    }
  }

  /// Runs gpg to its end.
  /// - Parameter take: is lent the output, piece by piece.
  /// - Returns: its exit status, -1 after a signal; and its status lines without what they begin with.
  static func run(
    _ call: GnuPGCall, take: (RawSpan) -> Void
  ) throws(GnuPGError) -> (exit: Int32, status: [String]) {
    var run = try GnuPGProcess(call)
    return try run.finish(call, take)
  }

  private init(_ call: GnuPGCall) throws(GnuPGError) {
    // Away from the numbers that the child gets them under.
    guard Self.open(&output), Self.open(&status), Self.open(&passphrase) else {
      closeAll()
      throw .failed(code: 0)
    }
    let started = Self.start(call, output.writing, status.writing, passphrase.reading)
    output.closeWriting()
    status.closeWriting()
    passphrase.closeReading()
    guard started > 0 else {
      closeAll()
      throw .missing
    }
    process = started
  }

  deinit {
    var ends = (output, status, passphrase)
    ends.0.closeReading()
    ends.1.closeReading()
    ends.2.closeWriting()
    guard process > 0 else { return }
    kill(process, SIGKILL)
    Self.collect(process)
  }

  private mutating func closeAll() {
    output.closeReading()
    output.closeWriting()
    status.closeReading()
    status.closeWriting()
    passphrase.closeReading()
    passphrase.closeWriting()
  }

  private static func open(_ pipe: inout Pipe) -> Bool {
    var ends = Pipe()
    guard unsafe coffer_pipe(&ends.reading, &ends.writing) == 0 else { return false }
    pipe.reading = fcntl(ends.reading, F_DUPFD_CLOEXEC, 16)
    pipe.writing = fcntl(ends.writing, F_DUPFD_CLOEXEC, 16)
    ends.closeReading()
    ends.closeWriting()
    return pipe.reading >= 0 && pipe.writing >= 0
  }

  @discardableResult
  private static func collect(_ process: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
  }

  // MARK: The run

  private mutating func finish(
    _ call: GnuPGCall, _ take: (RawSpan) -> Void
  ) throws(GnuPGError) -> (exit: Int32, status: [String]) {
    let end = ContinuousClock.now + .seconds(call.seconds)
    give(call.passphrase)
    var piece = SecretBytes(zeroed: Self.pieceByteCount)
    for descriptor in [output.reading, status.reading] {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    let ended = coffer_open_process(process)
    defer { if ended >= 0 { close(ended) } }
    while output.reading >= 0 || status.reading >= 0 {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { throw .notAnswering }
      var waits = [output.reading, status.reading, ended].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let milliseconds = Int32(clamping: left.components.seconds * 1_000 + 1_000)
      let count = unsafe poll(&waits, nfds_t(waits.count), min(milliseconds, 1_000))
      guard count >= 0 || errno == EINTR else { throw .failed(code: 0) }
      try readOutput(&piece, call.byteCountLimit, take)
      try readStatus(&piece)
      // An agent that it has started may hold its ends of the pipes.
      if waits[2].revents != 0, count > 0 { break }
    }
    return try leave(until: end)
  }

  /// Writes the passphrase; a pipe takes one of any length that a prompt allows at once.
  private mutating func give(_ secret: SharedSecretBytes?) {
    let descriptor = passphrase.writing
    if let secret {
      let former = signal(SIGPIPE, SIG_IGN)
      secret.withBytes { bytes in
        _ = unsafe bytes.withUnsafeBytes { unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count) }
      }
      _ = signal(SIGPIPE, former)
    }
    passphrase.closeWriting()
  }

  /// Reads what is there.
  private mutating func readOutput(
    _ piece: inout SecretBytes, _ limit: Int, _ take: (RawSpan) -> Void
  ) throws(GnuPGError) {
    while output.reading >= 0 {
      let count = Self.read(output.reading, into: &piece)
      if count == 0 { output.closeReading() }
      guard count > 0 else { return }
      outputByteCount += count
      guard outputByteCount <= limit else { throw .tooLong(byteCountLimit: limit) }
      piece.withBytes { take($0.extracting(first: count)) }
    }
  }

  private mutating func readStatus(_ piece: inout SecretBytes) throws(GnuPGError) {
    while status.reading >= 0 {
      let count = Self.read(status.reading, into: &piece)
      if count == 0 { status.closeReading() }
      guard count > 0 else { return }
      piece.withBytes { statusBytes += [UInt8](copying: $0.extracting(first: count)) }
      guard statusBytes.count <= Self.statusByteCountLimit else {
        throw .tooLong(byteCountLimit: Self.statusByteCountLimit)
      }
    }
  }

  private static func read(_ descriptor: Int32, into piece: inout SecretBytes) -> Int {
    piece.withMutableBytes { target in
      unsafe target.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// Waits for its end.
  private mutating func leave(
    until end: ContinuousClock.Instant
  ) throws(GnuPGError) -> (exit: Int32, status: [String]) {
    var ended = pollfd(fd: coffer_open_process(process), events: Int16(POLLIN), revents: 0)
    defer { if ended.fd >= 0 { close(ended.fd) } }
    let left = max(ContinuousClock.now.duration(to: end).components.seconds, 1)
    let count = unsafe poll(&ended, 1, Int32(clamping: left * 1_000))
    guard count != 0 else { throw .notAnswering }
    let exit = Self.collect(process)
    process = 0
    let prefix = "[GNUPG:] "
    let lines = String(decoding: statusBytes, as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    return (exit, lines)
  }

  // MARK: Starting

  private static func start(
    _ call: GnuPGCall, _ output: Int32, _ status: Int32, _ passphrase: Int32
  ) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // Its messages have names in them, and would appear in the middle of our own output.
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, status, statusDescriptor)
    unsafe posix_spawn_file_actions_adddup2(&actions, passphrase, passphraseDescriptor)
    _ = unsafe coffer_close_from(&actions, passphraseDescriptor + 1)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = unsafe ([call.program] + call.arguments).map { unsafe strdup($0) } + [nil]
    var environment = unsafe call.environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
    var process = pid_t()
    let failure = unsafe posix_spawn(
      &process, call.program, &actions, &attributes, &arguments, &environment)
    return failure == 0 ? process : -1
  }
}
