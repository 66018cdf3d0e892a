// SPDX-License-Identifier: Apache-2.0
//
// Giving a text to a program of the clipboard. This process passes it through a socket and may end then; a process of its
// own, which never reads from that socket, ends the program when the time is over.

internal import ChildProcesses
internal import CSystem
internal import Glibc

extension ClipboardTool {
  /// Puts a text on the clipboard, and returns when the program has read all of it.
  ///
  /// - Parameters:
  ///   - seconds: it is taken back after so long; nil for never.
  ///   - variables: of the environment.
  ///   - executable: a program that calls ``ClipboardKeeper/run(_:)`` and ``ClipboardHolder/run(_:)``.
  /// - Throws: ``ClipboardError`` `.notTaken`, `.notAnswering`; then the text is nowhere.
  public func hold(
    _ text: RawSpan, forSeconds seconds: Int?, variables: [String: String], executable: String
  ) throws(ClipboardError) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw notTaken }
    defer { close(ends[0]) }
    let arguments = ["coffer", ClipboardKeeper.argument, "\(seconds ?? 0)", self.kind.rawValue, path]
    let keeper = Self.startApart(executable, arguments, variables, passing: ends[1])
    close(ends[1])
    guard let keeper else { throw notTaken }
    do throws(ClipboardError) { try give(text, to: ends[0]) } catch {
      // It ends its program, which ends with what it has.
      kill(keeper, SIGTERM)
      waitpid(keeper, nil, 0)
      throw error
    }
  }

  private var notTaken: ClipboardError { .notTaken(program: kind.rawValue) }

  /// The variables that the programs need, and those of the loader and of coverage measurement.
  private static let kept = [
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DISPLAY",
    "XAUTHORITY",
    "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LLVM_PROFILE_FILE",
  ]

  /// In a session of its own, so that it goes on when the terminal is closed.
  private static func startApart(
    _ executable: String, _ arguments: [String], _ variables: [String: String], passing socket: Int32
  ) -> pid_t? {
    let variables = kept.compactMap { name in variables[name].map { "\(name)=\($0)" } }
    return ChildProcess.startApart(executable, arguments, environment: variables, passing: socket)
  }

  /// How long the program may take.
  private static let limit = Duration.seconds(10)

  private func give(_ text: RawSpan, to socket: Int32) throws(ClipboardError) {
    let end = ContinuousClock.now.advanced(by: Self.limit)
    var sent = 0
    while sent < text.byteCount {
      try checkTime(end)
      // Whoever has ended by now has not read all of it.
      if Self.hasEnded(socket, orHasRoom: true, milliseconds: 1_000) { throw notTaken }
      let rest = text.extracting(sent..<text.byteCount)
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count > 0 { sent += count } else if errno != EAGAIN && errno != EINTR { throw notTaken }
    }
    shutdown(socket, Int32(SHUT_WR))
    // They open their display before they read. Whoever has read all of it has a clipboard.
    while Self.unreadByteCount(socket) > 0, !Self.hasEnded(socket, milliseconds: 5) { try checkTime(end) }
    // One that fails does so at once. One that ends well has been asked for the text, or has lost the clipboard.
    if Self.hasEnded(socket, milliseconds: 100) {
      var status: UInt8 = 0
      guard unsafe recv(socket, &status, 1, Int32(MSG_DONTWAIT)) == 1, status == 0 else { throw notTaken }
    }
  }

  /// - Throws: ``ClipboardError`` `.notAnswering` when the time is over.
  private func checkTime(_ end: ContinuousClock.Instant) throws(ClipboardError) {
    guard ContinuousClock.now < end else { throw .notAnswering(program: kind.rawValue) }
  }

  /// Waits until the program has ended, the time is over, or, if that is asked for, the socket has room.
  /// - Returns: whether the program has ended.
  private static func hasEnded(_ socket: Int32, orHasRoom: Bool = false, milliseconds: Int32) -> Bool {
    var wait = pollfd(fd: socket, events: Int16(orHasRoom ? POLLIN | POLLOUT : POLLIN), revents: 0)
    _ = unsafe poll(&wait, 1, milliseconds)
    return wait.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
  }

  /// How much of what was sent nobody has read yet.
  private static func unreadByteCount(_ socket: Int32) -> Int32 {
    var count: Int32 = 0
    return unsafe ioctl(socket, outputQueue, &count) == 0 ? count : 0
  }

  /// SIOCOUTQ, on Linux.
  private static let outputQueue: UInt = 0x5411
}
