// SPDX-License-Identifier: Apache-2.0
//
// An open terminal without echo. The settings are restored when the value goes, whichever way that happens,
// and before a signal may end or stop the process.

internal import CSystem
internal import Glibc
internal import Secrets

/// A terminal whose keys arrive byte by byte and unseen, until this value is dropped.
struct RawTerminal: ~Copyable {
  enum Event {
    case byte(UInt8)
    /// The process was stopped and resumed, or the terminal has another size: the line has to be drawn again.
    case resumed
    /// The other descriptor became readable.
    case woken
    case closed
  }

  // Dropped in this order: the settings are back before the signals are.
  private let device: TerminalDevice
  private let signals: TerminalSignals
  /// One byte of input at a time lives here, not on the stack of `read`.
  private var key: SecretBytes

  init(path: String) throws(PromptError) {
    let device = try TerminalDevice(path: path)
    let signals = try TerminalSignals()
    guard device.setRaw() else { throw .terminalFailed(errno: errno) }
    self.device = device
    self.signals = signals
    self.key = SecretBytes(zeroed: 1)
  }

  private var descriptor: Int32 { device.descriptor }

  /// Columns of a row; 80 when the terminal does not say.
  borrowing func columnCount() -> Int {
    let columns = Int(coffer_terminal_columns(descriptor))
    return columns > 0 ? columns : 80
  }

  /// Rows of the screen; 24 when the terminal does not say.
  borrowing func rowCount() -> Int {
    let rows = Int(coffer_terminal_rows(descriptor))
    return rows > 0 ? rows : 24
  }

  /// Waits for a key, for the process to be resumed, or for `other` to become readable.
  mutating func nextEvent(wokenBy other: Int32 = -1) throws(PromptError) -> Event {
    while true {
      var waits = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        // poll(2) looks past a negative descriptor.
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      if unsafe poll(&waits, nfds_t(waits.count), -1) < 0 {
        if errno == EINTR { continue }
        throw .terminalFailed(errno: errno)
      }
      if waits[1].revents != 0 {
        while let signal = signals.next() { if signal != SIGWINCH { deliver(signal) } }
        return .resumed
      }
      if waits[2].revents != 0 { return .woken }
      guard waits[0].revents != 0 else { continue }
      let terminal = descriptor
      let got = key.withMutableBytes { span in
        unsafe span.withUnsafeMutableBytes { unsafe read(terminal, $0.baseAddress, 1) }
      }
      if got == 1 { return .byte(key.withBytes { unsafe $0.unsafeLoad(as: UInt8.self) }) }
      // A terminal whose other end was closed gives EIO.
      if got == 0 || errno == EIO { return .closed }
      if errno != EINTR && errno != EAGAIN { throw .terminalFailed(errno: errno) }
    }
  }

  /// Whether a key waits already, as in the middle of a paste, or comes within so many milliseconds.
  borrowing func hasInput(within milliseconds: Int32 = 0) -> Bool {
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&wait, 1, milliseconds) == 1
  }

  borrowing func write(_ text: String) throws(PromptError) {
    var text = text
    let result: Result<Void, PromptError> = text.withUTF8 { utf8 in
      Result { () throws(PromptError) in try unsafe write(UnsafeRawBufferPointer(utf8)) }
    }
    try result.get()
  }

  /// Writes bytes of an answer that may be shown.
  borrowing func write(shown bytes: RawSpan) throws(PromptError) {
    let result: Result<Void, PromptError> = unsafe bytes.withUnsafeBytes { raw in
      Result { () throws(PromptError) in try unsafe write(raw) }
    }
    try result.get()
  }

  private borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(PromptError) {
    if let failure = unsafe writeAll(bytes, to: descriptor) { throw failure }
  }

  /// Restores the terminal before the signal acts, and takes it again if the process goes on.
  private borrowing func deliver(_ signal: Int32) {
    device.restore()
    signals.deliver(signal)
    _ = device.setRaw()
  }
}

/// An open terminal and the settings it came with, which return when this value goes.
struct TerminalDevice: ~Copyable {
  let descriptor: Int32
  private let original: termios

  init(path: String) throws(PromptError) {
    descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .noTerminal }
    var settings = termios()
    guard unsafe tcgetattr(descriptor, &settings) == 0 else {
      close(descriptor)
      throw .noTerminal
    }
    original = settings
  }

  deinit {
    restore()
    close(descriptor)
  }

  /// Without echo, lines or signal keys; output stays as it was. Keys typed before are discarded.
  borrowing func setRaw() -> Bool {
    var raw = original
    raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | INLCR | IGNCR | ISTRIP)
    unsafe withUnsafeMutableBytes(of: &raw.c_cc) { codes in
      unsafe codes[Int(VMIN)] = 1
      unsafe codes[Int(VTIME)] = 0
    }
    return unsafe tcsetattr(descriptor, TCSAFLUSH, &raw) == 0
  }

  /// Restores the settings. Keys that were not read are discarded: the rest of a secret that was pasted with
  /// line ends in it must not reach the shell.
  borrowing func restore() {
    var settings = original
    unsafe _ = tcsetattr(descriptor, TCSAFLUSH, &settings)
  }
}
