// SPDX-License-Identifier: Apache-2.0
//
// Control-C, SIGTERM and SIGHUP during long work. The first signal is a request: the work stops where it is safe,
// cleans up, and the command reports what was done. If there is nothing to clean up, the first signal ends the command
// at once, with a prepared message. A second signal always ends it at once, which loses nothing either.
//
// Signals reach the run of the process `coffer`. A run beside others in a process is asked by a call.

internal import CSystem
internal import Glibc
internal import Synchronization

/// The interruption of the run that goes on now.
enum Interruption {
  private static var current: RunInterruption { CommandRun.current.interruption }

  /// Whether the command was asked to end.
  static var isRequested: Bool { current.isRequested }

  /// From here, the first signal is a request. Signals that we inherit as ignored, as in the background or under nohup,
  /// stay ignored.
  ///
  /// - Returns: a descriptor that becomes readable on a request; nil when it could not be created.
  @discardableResult
  static func catchOnce() -> Int32? { current.catchOnce() }

  /// Lets signals act as usual again, before somebody is asked.
  /// - Throws: a failure when there was one.
  static func letGo() throws {
    restore()
    guard !isRequested else { throw Failure.interrupted("nothing was changed") }
  }

  /// The same without an error: whoever comes next asks whether there was a signal.
  static func restore() { current.restore() }

  /// Waits so long, or until a signal that ``catchOnce()`` made a request.
  static func wait(milliseconds: Int32) { current.wait(milliseconds: milliseconds) }

  /// Runs work that needs no cleanup: the first signal ends the command at once, with the message `words`.
  static func endingAtOnce<R: ~Copyable>(
    _ words: Failure, isJSON: Bool, _ work: () throws -> R
  ) rethrows -> R {
    let line =
      Array((Terminal.isErrorTerminal && !isJSON ? "\n" : "").utf8)
      + Array(words.lines(isJSON: isJSON).map { $0.text + "\n" }.joined().utf8)
    return try current.endingAtOnce(saying: line, work)
  }

  /// Runs a wait that has to be ended in order: the first signal calls `stop`, from another thread, and the wait ends by
  /// itself. Afterwards signals do what they did before.
  static func stopping<R: ~Copyable>(_ stop: @escaping @Sendable () -> Void, _ wait: () throws -> R) rethrows
    -> R
  {
    try current.stopping(stop, wait)
  }

  /// Starts a new line on the terminal, once, because the cursor is after a bar or an echoed ^C.
  static func breakLine() {
    let run = CommandRun.current
    guard run.interruption.isRequested, Terminal.isErrorTerminal, run.interruption.mayBreakLine() else {
      return
    }
    _ = unsafe write(run.environment.streams.error, "\n", 1)
  }
}

/// How a run is asked to end early.
package final class RunInterruption: Sendable {
  private let wasRequested = Atomic(false)
  private let lineIsBroken = Atomic(false)
  /// The address and length of the message that a signal handler writes; 0 while the first signal is a request.
  private let lastWords = Atomic(0)
  private let lastWordsByteCount = Atomic(0)
  /// The write end of the pipe that a request is written to.
  private let bell = Atomic<Int32>(-1)
  /// One for the whole run, however often a command begins long work; -1 when it could not be created.
  private let pipe = Mutex<(reading: Int32, writing: Int32)?>(nil)
  /// The signals that we handle, one bit each; not those that are ignored.
  private let caught = Atomic<Int32>(0)
  private let handlesSignals: Bool

  /// Of a run beside others, which ``request()`` asks.
  package convenience init() { self.init(handlesSignals: false) }

  private init(handlesSignals: Bool) { self.handlesSignals = handlesSignals }

  deinit {
    guard let ends = pipe.withLock({ $0 }) else { return }
    for end in [ends.reading, ends.writing] where end >= 0 { close(end) }
  }

  /// Of the run of the process: signals ask it.
  static func bySignals() -> RunInterruption {
    let interruption = RunInterruption(handlesSignals: true)
    // Never freed, because a handler may be using it.
    let address = unsafe Int(bitPattern: Unmanaged.passRetained(interruption).toOpaque())
    ofProcess.store(address, ordering: .releasing)
    return interruption
  }

  /// The address of the one that signals reach; 0 in a process that handles none. A handler finds nothing else.
  private static let ofProcess = Atomic(0)

  /// Whether the run was asked to end.
  package var isRequested: Bool { wasRequested.load(ordering: .acquiring) }

  /// Asks the run to end, as a first signal does during long work. It goes on for as long as there is no safe place
  /// to stop.
  package func request() {
    wasRequested.store(true, ordering: .releasing)
    let bell = bell.load(ordering: .acquiring)
    if bell >= 0 { _ = unsafe write(bell, "!", 1) }
  }

  fileprivate func mayBreakLine() -> Bool { !lineIsBroken.exchange(true, ordering: .relaxed) }

  private func ends() -> (reading: Int32, writing: Int32) {
    pipe.withLock { pipe in
      if let pipe { return pipe }
      var ends: (reading: Int32, writing: Int32) = (-1, -1)
      _ = unsafe coffer_pipe(&ends.reading, &ends.writing)
      pipe = ends
      return ends
    }
  }

  fileprivate func catchOnce() -> Int32? {
    let ends = ends()
    let isFirst = bell.exchange(ends.writing, ordering: .acquiringAndReleasing) < 0
    // Whoever asked before there was a bell is heard too.
    if isFirst, isRequested, ends.writing >= 0 { _ = unsafe write(ends.writing, "!", 1) }
    install()
    return ends.reading >= 0 ? ends.reading : nil
  }

  fileprivate func restore() {
    let caught = caught.exchange(0, ordering: .acquiringAndReleasing)
    for number in Self.signals where caught & 1 << number != 0 { signal(number, SIG_DFL) }
  }

  fileprivate func wait(milliseconds: Int32) {
    var wait = pollfd(fd: ends().reading, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&wait, 1, milliseconds)
  }

  fileprivate func endingAtOnce<R: ~Copyable>(saying line: [UInt8], _ work: () throws -> R) rethrows -> R {
    // Only a signal ends a process at once.
    guard handlesSignals else { return try work() }
    // Never freed, because a handler may be reading it.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 1)
    unsafe bytes.copyBytes(from: line)
    lastWordsByteCount.store(line.count, ordering: .releasing)
    lastWords.store(Int(bitPattern: bytes.baseAddress), ordering: .releasing)
    defer { lastWords.store(0, ordering: .releasing) }
    install()
    return try work()
  }

  fileprivate func stopping<R: ~Copyable>(_ stop: @escaping @Sendable () -> Void, _ wait: () throws -> R)
    rethrows -> R
  {
    let words = lastWords.exchange(0, ordering: .acquiringAndReleasing)
    let before = caught.load(ordering: .acquiring)
    guard let bell = catchOnce(), let watcher = BellWatcher(bell, stop) else { return try wait() }
    defer {
      watcher.end()
      if !isRequested {
        lastWords.store(words, ordering: .releasing)
        release(allBut: before)
      }
    }
    return try wait()
  }

  /// Gives signals that were caught since back to the system.
  private func release(allBut kept: Int32) {
    for number in Self.signals where caught.load(ordering: .acquiring) & ~kept & 1 << number != 0 {
      signal(number, SIG_DFL)
      caught.bitwiseAnd(~(1 << number), ordering: .releasing)
    }
  }

  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  private func install() {
    guard handlesSignals else { return }
    // Created before the handler can run.
    _ = Self.ofProcess.load(ordering: .acquiring)
    for number in Self.signals {
      var current = sigaction()
      unsafe sigaction(number, nil, &current)
      if Self.isIgnored(current) { continue }
      var action = sigaction()
      // Without SA_RESTART, so that waiting calls return.
      unsafe action.__sigaction_handler.sa_handler = { _ in RunInterruption.handle() }
      unsafe sigaction(number, &action, nil)
      caught.bitwiseOr(1 << number, ordering: .releasing)
    }
  }

  /// Calls only functions that are safe in a signal handler.
  private static func handle() {
    let address = ofProcess.load(ordering: .acquiring)
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    unsafe Unmanaged<RunInterruption>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.takeSignal() }
  }

  private func takeSignal() {
    if let words = unsafe UnsafeRawPointer(bitPattern: lastWords.load(ordering: .acquiring)) {
      _ = unsafe write(STDERR_FILENO, words, lastWordsByteCount.load(ordering: .acquiring))
      _exit(ExitCode.interrupted.rawValue)
    }
    let code = errno
    request()
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
