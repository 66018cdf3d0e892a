// SPDX-License-Identifier: Apache-2.0
//
// A terminal for tests, of which the test holds keyboard and screen. For more than one suite of tests,
// so in a target of its own.

import Foundation

/// A terminal whose keyboard and screen are in the test's hands.
public final class PseudoTerminal: @unchecked Sendable {
  /// Where a program opens it.
  public let path: String
  /// Kept open, so that the screen does not close between two prompts.
  public let device: Int32
  private let master: Int32
  private var screen: [UInt8] = []
  /// Ends a hang; what comes is never waited for that long.
  private static let patienceSeconds = 600.0

  public struct Failure: Error {
    public var reason: String
    public init(_ reason: String) { self.reason = reason }
  }

  public init(columns: UInt16 = 80) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: UInt32 = 0
    // The importer does not see posix_openpt and its companions; these are the requests they make.
    guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0,
      ioctl(master, Self.getNumber, &number) == 0
    else { throw Failure("no pseudo terminal") }
    path = "/dev/pts/\(number)"
    device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  deinit {
    close(device)
    close(master)
  }

  public func type(_ text: String) { type(Array(text.utf8)) }

  public func type(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) } }

  /// Waits until the screen has shown `text` (once more than before); returns all up to and with it.
  @discardableResult
  public func expect(_ text: String) throws -> String {
    let wanted = Array(text.utf8)
    let deadline = Date(timeIntervalSinceNow: Self.patienceSeconds)
    while true {
      if let end = end(of: wanted) {
        defer { screen.removeFirst(end) }
        return String(decoding: screen[..<end], as: UTF8.self)
      }
      var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard Date() < deadline else {
        let seen = String(decoding: screen, as: UTF8.self).debugDescription
        throw Failure("waited for \(text.debugDescription), saw \(seen)")
      }
      if poll(&wait, 1, 100) == 1 { readMore() }
    }
  }

  /// All that is on the screen and was not waited for.
  public func rest() -> String {
    var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    while poll(&wait, 1, 0) == 1 { readMore() }
    defer { screen = [] }
    return String(decoding: screen, as: UTF8.self)
  }

  /// Whether the terminal itself shows what is typed and makes signals of keys.
  public var isCooked: Bool {
    var settings = termios()
    tcgetattr(device, &settings)
    let all = tcflag_t(ECHO | ICANON | ISIG)
    return settings.c_lflag & all == all
  }

  /// TIOCSPTLCK and TIOCGPTN, on Linux.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  private func readMore() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let got = read(master, &buffer, buffer.count)
    if got > 0 { screen += buffer[..<got] }
  }

  private func end(of wanted: [UInt8]) -> Int? {
    guard screen.count >= wanted.count else { return nil }
    for start in 0...(screen.count - wanted.count)
    where screen[start..<start + wanted.count].elementsEqual(wanted) {
      return start + wanted.count
    }
    return nil
  }
}
