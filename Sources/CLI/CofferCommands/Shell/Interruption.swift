// SPDX-License-Identifier: Apache-2.0
//
// Control-C, SIGTERM and SIGHUP during long work. The first signal is a request: the work stops where it is safe,
// cleans up, and the command reports what was done. If there is nothing to clean up, the first signal ends the command
// at once, with a prepared message. A second signal always ends it at once, which loses nothing either.

internal import CSystem
internal import Glibc
internal import Synchronization

enum Interruption {
  private static let wasRequested = Atomic(false)
  private static let lineIsBroken = Atomic(false)
  /// The address and length of the message that a signal handler writes; 0 while the first signal is a request.
  private static let lastWords = Atomic(0)
  private static let lastWordsByteCount = Atomic(0)
  /// The write end of the pipe that the handler writes to.
  private static let bell = Atomic<Int32>(-1)
  /// One for the whole process, however often a command begins long work; -1 when it could not be created.
  private static let pipe: (reading: Int32, writing: Int32) = {
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    _ = unsafe coffer_pipe(&ends.reading, &ends.writing)
    return ends
  }()

  /// Whether a signal has requested that the command ends.
  static var isRequested: Bool { wasRequested.load(ordering: .acquiring) }

  /// From here, the first signal is a request. Signals that we inherit as ignored, as in the background or under nohup,
  /// stay ignored.
  ///
  /// - Returns: a descriptor that becomes readable on a request; nil when it could not be created.
  @discardableResult
  static func catchOnce() -> Int32? {
    bell.store(pipe.writing, ordering: .releasing)
    install()
    return pipe.reading >= 0 ? pipe.reading : nil
  }

  /// Waits so long, or until a signal that ``catchOnce()`` made a request.
  static func wait(milliseconds: Int32) {
    var wait = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&wait, 1, milliseconds)
  }

  /// Runs work that needs no cleanup: the first signal ends the command at once, with the message `words`.
  static func endingAtOnce<R: ~Copyable>(
    _ words: Failure, isJSON: Bool, _ work: () throws -> R
  ) rethrows -> R {
    let line =
      Array((breaksLine && !isJSON ? "\n" : "").utf8)
      + Array(words.lines(isJSON: isJSON).map { $0.text + "\n" }.joined().utf8)
    // Never freed, because a handler may be reading it.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 1)
    unsafe bytes.copyBytes(from: line)
    lastWordsByteCount.store(line.count, ordering: .releasing)
    lastWords.store(Int(bitPattern: bytes.baseAddress), ordering: .releasing)
    defer { lastWords.store(0, ordering: .releasing) }
    install()
    return try work()
  }

  /// Starts a new line on the terminal, once, because the cursor is after a bar or an echoed ^C.
  static func breakLine() {
    guard isRequested, breaksLine, !lineIsBroken.exchange(true, ordering: .relaxed) else { return }
    _ = unsafe write(STDERR_FILENO, "\n", 1)
  }

  private static let breaksLine = Terminal.isErrorTerminal
  /// The signals that we handle, one bit each; not those that are ignored.
  private static let caught = Atomic<Int32>(0)
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  private static func install() {
    // Everything that the handler uses is created before it can run.
    _ = (
      isRequested, bell.load(ordering: .relaxed), caught.load(ordering: .relaxed),
      lastWordsByteCount.load(ordering: .relaxed)
    )
    for number in signals {
      var current = sigaction()
      unsafe sigaction(number, nil, &current)
      if isIgnored(current) { continue }
      var action = sigaction()
      // Without SA_RESTART, so that waiting calls return.
      unsafe action.__sigaction_handler.sa_handler = { _ in Interruption.handle() }
      unsafe sigaction(number, &action, nil)
      caught.bitwiseOr(1 << number, ordering: .releasing)
    }
  }

  /// Calls only functions that are safe in a signal handler.
  private static func handle() {
    if let words = unsafe UnsafeRawPointer(bitPattern: lastWords.load(ordering: .acquiring)) {
      _ = unsafe write(STDERR_FILENO, words, lastWordsByteCount.load(ordering: .acquiring))
      _exit(ExitCode.interrupted.rawValue)
    }
    let code = errno
    wasRequested.store(true, ordering: .releasing)
    let bell = bell.load(ordering: .acquiring)
    if bell >= 0 { _ = unsafe write(bell, "!", 1) }
    let caught = caught.load(ordering: .acquiring)
    if caught & 1 << SIGINT != 0 { signal(SIGINT, SIG_DFL) }
    if caught & 1 << SIGTERM != 0 { signal(SIGTERM, SIG_DFL) }
    if caught & 1 << SIGHUP != 0 { signal(SIGHUP, SIG_DFL) }
    errno = code
  }

  /// Handlers cannot be compared in Swift; SIG_IGN is the address 1.
  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

extension Failure {
  /// The failure of work that was interrupted.
  static func interrupted(_ message: String, hint: String? = nil) -> Failure {
    Failure(.interrupted, "interrupted", "interrupted; \(message)", hint: hint)
  }
}
