// SPDX-License-Identifier: Apache-2.0
//
// The terminal for a program that draws all of it: its second screen, and every key as it is pressed. Both are given
// back on every way out, and when a signal stops or ends the process; what was drawn is then gone.

internal import CSystem
internal import Glibc
internal import Secrets

/// The controlling terminal's second screen and its keys, until this value is dropped.
public struct FullScreen: ~Copyable {
  /// What a program waits for.
  public enum Event: Equatable, Sendable {
    case byte(UInt8)
    /// The screen is empty, or has another size: draw it again.
    case redraw
    /// The other descriptor became readable.
    case woken
    /// The terminal has gone.
    case closed
  }

  /// So many rows and columns fit.
  public struct Size: Equatable, Sendable {
    public var rows: Int
    public var columns: Int

    public init(rows: Int, columns: Int) {
      self.rows = rows
      self.columns = columns
    }
  }

  // Dropped in this order: keys are as before when the first screen is back.
  private var terminal: RawTerminal
  private let screen: SecondScreen

  /// Shows it, empty.
  /// - Throws: ``PromptError`` `.noTerminal`, also for a terminal that has only one screen; `.terminalFailed`.
  public init(of terminal: PromptTerminal) throws(PromptError) {
    try self.init(path: terminal.path, style: terminal.style)
  }

  /// The screen of the terminal at `path`: for tests.
  init(path: String, style: TerminalStyle) throws(PromptError) {
    guard style.clearsRows else { throw .noTerminal }
    let screen = try SecondScreen(path: path, style: style)
    terminal = try RawTerminal(path: path)
    self.screen = screen
  }

  /// Its size now; 24 by 80 when the terminal does not say.
  public borrowing func size() -> Size {
    Size(rows: terminal.rowCount(), columns: terminal.columnCount())
  }

  /// Waits for a key, for a reason to draw again, or for `other` to become readable.
  public mutating func next(wokenBy other: Int32 = -1) throws(PromptError) -> Event {
    switch try terminal.nextEvent(wokenBy: other) {
    case .byte(let byte): .byte(byte)
    case .resumed: .redraw
    case .woken: .woken
    case .closed: .closed
    }
  }

  /// Whether a key waits, or comes within so many milliseconds.
  public borrowing func hasInput(within milliseconds: Int32 = 0) -> Bool {
    terminal.hasInput(within: milliseconds)
  }

  /// Stops the process, as Control-Z does elsewhere. ``next(wokenBy:)`` says when it goes on.
  public borrowing func stop() { kill(0, SIGTSTP) }

  /// Writes text, and control characters as they are: never pass text from others.
  /// - Throws: ``PromptError`` `.noTerminal`, `.terminalFailed`.
  public borrowing func write(_ text: String) throws(PromptError) { try screen.write(text) }
}
