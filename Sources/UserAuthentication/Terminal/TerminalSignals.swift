// SPDX-License-Identifier: Apache-2.0
//
// Signals while the terminal is in raw mode. A handler may do next to nothing, so ours writes the
// signal's number into a socket; the prompt waits on its other end beside the terminal, puts the
// terminal back, and then lets the signal do what it would have done.
//
// Concurrency: one prompt at a time holds the terminal (see `TerminalPrompt`), so one socket is enough.

internal import Glibc
internal import Synchronization

/// Catches the signals that would leave a terminal without echo, from `init` until it is dropped.
struct TerminalSignals: ~Copyable {
  /// Becomes readable when a signal has come.
  let descriptor: Int32
  private let writeEnd: Int32
  private var previous: [(signal: Int32, action: sigaction)] = []

  init() throws(PromptError) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .terminalFailed(errno: errno) }
    descriptor = ends[0]
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

  deinit {
    for entry in previous {
      var action = entry.action
      unsafe _ = sigaction(entry.signal, &action, nil)
    }
    signalSocket.store(-1, ordering: .sequentiallyConsistent)
    // What came after the last look is not lost; the terminal has been put back by now.
    while let signal = next() { Self.raiseHere(signal) }
    close(descriptor)
    close(writeEnd)
  }

  /// The next signal that came, if one did.
  borrowing func next() -> Int32? {
    var number: UInt8 = 0
    guard unsafe read(descriptor, &number, 1) == 1 else { return nil }
    return Int32(number)
  }

  /// Lets `signal` act as it did before this value; returns when that neither ended nor replaced us.
  borrowing func deliver(_ signal: Int32) {
    guard var before = previous.first(where: { $0.signal == signal })?.action else { return }
    var ours = sigaction()
    guard unsafe sigaction(signal, &before, &ours) == 0 else { return }
    Self.raiseHere(signal)
    unsafe _ = sigaction(signal, &ours, nil)
  }

  /// Raises `signal` in this thread, so that it acts before this returns. The threads of a task pool
  /// block most signals, and there it would wait for ever.
  private static func raiseHere(_ signal: Int32) {
    var only = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
    raise(signal)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  /// What ends, stops or resumes a process from outside. Control-C and Control-Z arrive as bytes.
  private static let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT]
}

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
