// SPDX-License-Identifier: Apache-2.0
//
// Signals while the terminal is not as it was: in raw mode, or with secrets on its second screen. A handler
// may do next to nothing, so ours writes the signal's number into a socket. The prompt polls its other end
// together with the terminal, restores the terminal, and then lets the signal act as usual. Between two
// prompts a signal waits for the next one, or for the end of the last holder.
//
// Concurrency: any number of holders share one set of handlers and one socket; the first installs them and
// the last removes them, under a lock that no handler takes. One prompt at a time reads the socket (see
// `TerminalPrompt`).

internal import Glibc
internal import Synchronization

/// Catches the signals that would leave the terminal changed, from `init` until it is dropped.
struct TerminalSignals: ~Copyable {
  /// Becomes readable when a signal has come.
  let descriptor: Int32

  init() throws(PromptError) {
    descriptor = try catcher.withLock { (catcher) throws(PromptError) in
      if catcher.holderCount == 0 { try catcher.install() }
      catcher.holderCount += 1
      return catcher.readEnd
    }
  }

  deinit {
    let ends: [Int32] = catcher.withLock { catcher in
      catcher.holderCount -= 1
      return catcher.holderCount == 0 ? catcher.remove() : []
    }
    guard !ends.isEmpty else { return }
    // A signal that came after the last check is not lost; the terminal is restored by now.
    while let signal = next() { Self.raiseHere(signal) }
    for end in ends { close(end) }
  }

  /// The next signal that came, if one did.
  borrowing func next() -> Int32? {
    var number: UInt8 = 0
    guard unsafe read(descriptor, &number, 1) == 1 else { return nil }
    return Int32(number)
  }

  /// Lets `signal` act as usual, on the first screen. Returns if the process goes on, with the second screen
  /// shown again if there was one.
  borrowing func deliver(_ signal: Int32) {
    let screen = catcher.withLock { $0.screen }
    ScreenSwitch.leave(screen)
    guard let ours = catcher.withLock({ $0.restoreAction(of: signal) }) else {
      return ScreenSwitch.enter(screen)
    }
    Self.raiseHere(signal)
    catcher.withLock { $0.setAction(of: signal, ours) }
    ScreenSwitch.enter(screen)
  }

  /// Notes that the second screen of a terminal is shown, and has to be left before a signal acts.
  borrowing func note(screen: Int32) { catcher.withLock { $0.screen = screen } }

  /// Raises `signal` in this thread, so that it acts before this returns. The threads of a task pool block
  /// most signals, and there it would wait forever.
  private static func raiseHere(_ signal: Int32) {
    var only = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
    raise(signal)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }
}

/// Switches between a terminal's two screens, as xterm and its successors do (private mode 1049).
enum ScreenSwitch {
  /// Nothing happens for a negative descriptor.
  static func enter(_ descriptor: Int32) { write("\u{1B}[?1049h\u{1B}[2J\u{1B}[H", to: descriptor) }

  /// The second screen is cleared first: it would keep its contents.
  static func leave(_ descriptor: Int32) { write("\u{1B}[2J\u{1B}[?1049l", to: descriptor) }

  private static func write(_ sequence: StaticString, to descriptor: Int32) {
    guard descriptor >= 0 else { return }
    while unsafe Glibc.write(descriptor, sequence.utf8Start, sequence.utf8CodeUnitCount) < 0,
      errno == EINTR
    {}
  }
}

/// The state that all holders share.
private struct Catcher {
  var holderCount = 0
  var readEnd: Int32 = -1
  /// The descriptor of a terminal that shows its second screen; -1 if there is none.
  var screen: Int32 = -1
  private var writeEnd: Int32 = -1
  private var previous: [(signal: Int32, action: sigaction)] = []

  mutating func install() throws(PromptError) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .terminalFailed(errno: errno) }
    readEnd = ends[0]
    writeEnd = ends[1]
    signalSocket.store(writeEnd, ordering: .sequentiallyConsistent)
    for signal in Self.caught {
      var new = sigaction()
      unsafe new.__sigaction_handler.sa_handler = noteSignal
      new.sa_flags = Int32(SA_RESTART)
      var old = sigaction()
      if unsafe sigaction(signal, &new, &old) == 0 { previous.append((signal, old)) }
    }
  }

  /// Removes the handlers; returns the socket's ends, to be closed.
  mutating func remove() -> [Int32] {
    for entry in previous { setAction(of: entry.signal, entry.action) }
    previous = []
    signalSocket.store(-1, ordering: .sequentiallyConsistent)
    return [readEnd, writeEnd]
  }

  /// Restores the former action of `signal`; returns ours, or nil when it is not caught.
  func restoreAction(of signal: Int32) -> sigaction? {
    guard var before = previous.first(where: { $0.signal == signal })?.action else { return nil }
    var ours = sigaction()
    return unsafe sigaction(signal, &before, &ours) == 0 ? ours : nil
  }

  func setAction(of signal: Int32, _ action: sigaction) {
    var action = action
    unsafe _ = sigaction(signal, &action, nil)
  }

  /// The signals that end, stop or resume a process from outside, and the one of a terminal that has another size.
  /// Control-C and Control-Z arrive as bytes.
  private static let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, SIGWINCH]
}

private let catcher = Mutex(Catcher())

/// The socket that handlers write to; -1 when no prompt is open. An atomic, since a handler may not lock.
private let signalSocket = Atomic<Int32>(-1)

/// Async-signal-safe: an atomic load and write(2), and errno left as it was.
private func noteSignal(_ signal: Int32) {
  let saved = errno
  var number = UInt8(truncatingIfNeeded: signal)
  let end = signalSocket.load(ordering: .sequentiallyConsistent)
  if end >= 0 { unsafe _ = write(end, &number, 1) }
  errno = saved
}
