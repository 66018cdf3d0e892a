// SPDX-License-Identifier: Apache-2.0

import Foundation
import Secrets

@testable import UserAuthentication

/// A terminal whose keyboard and screen are in the test's hands.
final class PseudoTerminal: @unchecked Sendable {
  /// Where a program opens it.
  let path: String
  /// Kept open, so that the screen does not close between two prompts.
  let device: Int32
  private let master: Int32
  private var screen: [UInt8] = []

  struct Failure: Error { var reason: String }

  init(columns: UInt16 = 80) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    var number: UInt32 = 0
    // The importer does not see posix_openpt and its companions; these are the requests they make.
    guard master >= 0, ioctl(master, Self.setLock, &isLocked) == 0,
      ioctl(master, Self.getNumber, &number) == 0
    else { throw Failure(reason: "no pseudo terminal") }
    path = "/dev/pts/\(number)"
    device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  deinit {
    close(device)
    close(master)
  }

  func type(_ text: String) { type(Array(text.utf8)) }

  func type(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) } }

  /// Waits until the screen has shown `text` (once more than before); returns all up to and with it.
  @discardableResult
  func expect(_ text: String) throws -> String {
    let wanted = Array(text.utf8)
    let deadline = Date(timeIntervalSinceNow: 20)
    while true {
      if let end = end(of: wanted) {
        defer { screen.removeFirst(end) }
        return String(decoding: screen[..<end], as: UTF8.self)
      }
      var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard Date() < deadline else {
        let seen = String(decoding: screen, as: UTF8.self).debugDescription
        throw Failure(reason: "waited for \(text.debugDescription), saw \(seen)")
      }
      if poll(&wait, 1, 100) == 1 { readMore() }
    }
  }

  /// All that is on the screen and was not waited for.
  func rest() -> String {
    var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    while poll(&wait, 1, 0) == 1 { readMore() }
    defer { screen = [] }
    return String(decoding: screen, as: UTF8.self)
  }

  /// Whether the terminal itself shows what is typed and makes signals of keys.
  var isCooked: Bool {
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

/// Something that waits for a person, run beside the test that plays the person.
final class Background<Value: Sendable>: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var result: Result<Value, PromptError>?

  init(_ body: @escaping @Sendable () throws(PromptError) -> Value) {
    Thread {
      self.result = Result { () throws(PromptError) in try body() }
      self.done.signal()
    }.start()
  }

  /// The result, once it is there.
  func value() throws -> Result<Value, PromptError> {
    guard done.wait(timeout: .now() + 20) == .success, let result else {
      throw PseudoTerminal.Failure(reason: "the prompt did not come back")
    }
    return result
  }
}

/// What was answered, as text, for comparing.
func answer(_ prompt: some PassphrasePrompt, _ request: PromptRequest) throws(PromptError) -> String {
  try prompt.ask(request).withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

func shared(_ text: String) -> SharedSecret {
  SharedSecret(SecretBytes(copying: Array(text.utf8).span.bytes))
}
