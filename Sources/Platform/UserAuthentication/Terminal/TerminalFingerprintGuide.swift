// SPDX-License-Identifier: Apache-2.0
//
// One row on the terminal while a finger is waited for. A separate thread listens for keys while the caller
// waits for the reader. It holds the terminal as a prompt does and releases it before the notice ends, so
// that a prompt may follow.

internal import Glibc
internal import Synchronization

/// Says on the controlling terminal that the reader waits. Return goes to the passphrase if the policy offers
/// it; Control-C cancels. Without a terminal it is silent.
public struct TerminalFingerprintGuide: FingerprintGuide {
  private let path: String
  private let style: TerminalStyle
  private let purpose: String?

  /// A guide on a terminal, with the colours that it has.
  /// - Parameter purpose: what the finger is for, as it may be shown: "to read a message for Ada".
  public init(on terminal: PromptTerminal, purpose: String? = nil) {
    self.init(path: terminal.path, style: terminal.style, purpose: purpose)
  }

  /// Speaks on the terminal at `path`: for tests.
  init(path: String, style: TerminalStyle, purpose: String? = nil) {
    self.path = path
    self.style = style
    self.purpose = purpose
  }

  /// Shows one row until the notice ends; silent without a terminal.
  public func begin(
    _ policy: AuthenticationPolicy, _ attempt: AuthenticationAttempt
  ) -> any FingerprintNotice {
    let words = "touch the fingerprint reader" + (purpose.map { ", \($0)" } ?? "")
    let shown = TerminalNotice.started(
      path: path, style: style, words, fallbackTitle: policy.fallbackTitle
    ) { stop in
      switch stop {
      case .cancelled: attempt.cancel()
      case .fallback: attempt.useFallback()
      }
    }
    return shown ?? SilentFingerprintGuide().begin(policy, attempt)
  }
}

/// The row, and the thread that draws it.
final class TerminalNotice: FingerprintNotice {
  private struct State {
    var row = ""
    var isEnded = false
  }

  private let path: String
  private let style: TerminalStyle
  private let fallbackTitle: String
  private let waiting: String
  private let stop: @Sendable (AuthenticationAttempt.Stop) -> Void
  private let wake: WakeSocket
  private let state = Mutex(State())
  private let thread = Mutex<pthread_t?>(nil)

  private init(
    path: String, style: TerminalStyle, _ words: String, fallbackTitle: String, _ wake: consuming WakeSocket,
    stop: @escaping @Sendable (AuthenticationAttempt.Stop) -> Void
  ) {
    self.path = path
    self.style = style
    self.fallbackTitle = fallbackTitle
    self.stop = stop
    self.wake = wake
    waiting = words
    state.withLock { $0.row = text(.waiting) }
  }

  /// Nil when no thread can be started, or there are no descriptors left.
  /// - Parameters:
  ///   - words: the row at first.
  ///   - fallbackTitle: what Return does; empty for nothing.
  ///   - stop: called in the notice's thread for a key that ends the wait.
  static func started(
    path: String, style: TerminalStyle, _ words: String, fallbackTitle: String,
    stop: @escaping @Sendable (AuthenticationAttempt.Stop) -> Void
  ) -> TerminalNotice? {
    guard let wake = WakeSocket() else { return nil }
    let notice = TerminalNotice(
      path: path, style: style, words, fallbackTitle: fallbackTitle, wake, stop: stop)
    let handedOver = unsafe Unmanaged.passRetained(notice)
    var thread = pthread_t()
    let failure = unsafe pthread_create(
      &thread, nil,
      { notice in
        // The thread's own reference, taken over from `started`.
        if let notice = unsafe notice {
          unsafe Unmanaged<TerminalNotice>.fromOpaque(notice).takeRetainedValue().listen()
        }
        return nil
      }, handedOver.toOpaque())
    guard failure == 0 else {
      unsafe handedOver.release()
      return nil
    }
    notice.thread.withLock { $0 = thread }
    return notice
  }

  func show(_ progress: FingerprintProgress) {
    let isNews = state.withLock { state in
      let former = state.row
      state.row = text(progress)
      return state.row != former
    }
    if isNews { wake.wake() }
  }

  func end() {
    state.withLock { $0.isEnded = true }
    wake.wake()
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    if let thread { _ = pthread_join(thread, nil) }
  }

  private func listen() {
    // Without a terminal nothing is shown; the reader still waits.
    try? TerminalPrompt.alone { () throws(PromptError) in
      var terminal = try RawTerminal(path: path)
      // What ends at once is still said: whoever looks sees what happened.
      var isShown = false
      while let row = state.withLock({ $0.isEnded && isShown ? nil : $0.row }) {
        isShown = true
        let cleared = style.clearedRow(columnCount: terminal.columnCount())
        try terminal.write(cleared + row + choices)
        try waitForNews(on: &terminal)
      }
      try terminal.write(style.clearedRow(columnCount: terminal.columnCount()))
    }
  }

  /// Returns when the row has to be drawn again.
  private func waitForNews(on terminal: inout RawTerminal) throws(PromptError) {
    while true {
      switch try terminal.nextEvent(wokenBy: wake.descriptor) {
      case .woken:
        wake.clear()
        return
      case .resumed: return
      case .closed: throw .noTerminal
      case .byte(let key):
        switch key {
        case Key.controlC, Key.controlD: stop(.cancelled)
        case Key.carriageReturn, Key.lineFeed:
          if !fallbackTitle.isEmpty { stop(.fallback) }
        default: continue
        }
      }
    }
  }

  private var choices: String {
    let fallback = fallbackTitle.isEmpty ? "" : "Return: \(fallbackTitle); "
    return " (\(fallback)Control-C: cancel) "
  }

  private func text(_ progress: FingerprintProgress) -> String {
    switch progress {
    case .waiting: waiting
    case .scanAgain(.unreadable): "that could not be read; touch the reader again"
    case .scanAgain(.swipeTooShort): "that was too short; swipe again"
    case .scanAgain(.notCentred): "put the finger in the middle of the reader"
    case .scanAgain(.removeAndRetry): "take the finger off, then touch the reader again"
    case .notRecognised(triesLeft: 0): "that finger is not known"
    case .notRecognised: "that finger is not known; touch the reader again"
    }
  }

  private enum Key {
    static let controlC: UInt8 = 0x03
    static let controlD: UInt8 = 0x04
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
  }
}
