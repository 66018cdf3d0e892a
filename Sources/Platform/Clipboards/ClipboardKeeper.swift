// SPDX-License-Identifier: Apache-2.0
//
// The process that ends a program of the clipboard when the time is over. It never reads the text: the program does, from
// the socket that this process only passes on.

internal import ChildProcesses
internal import CSystem
internal import Glibc

/// This program in the role of the process that takes a text back: see ``ClipboardTool``.
public enum ClipboardKeeper {
  /// The first argument of that process; three more follow: seconds, the kind of program, and its path.
  public static let argument = "clipboard-keeper"

  /// The whole life of the process.
  /// - Parameter arguments: all of the process but its name.
  public static func run(_ arguments: [String]) -> Never {
    let socket = ChildProcess.passedDescriptor
    var (user, parent) = (UInt32(), Int32())
    // Whoever types the argument has no socket here.
    guard arguments.count == 4, let seconds = Int(arguments[1]),
      let kind = ClipboardTool.Kind(rawValue: arguments[2]),
      unsafe coffer_peer(socket, &user, &parent) == 0, fcntl(socket, F_SETFD, FD_CLOEXEC) == 0
    else { _exit(1) }
    let signals = coffer_ending_signals()
    let timer = coffer_boot_timer()
    guard signals >= 0, timer >= 0,
      seconds == 0 || coffer_set_boot_timer(timer, coffer_boot_time() + UInt64(seconds) * 1_000_000_000) == 0,
      let tool = start(kind, arguments[3], reading: socket)
    else { end(telling: 1, socket) }
    let process = coffer_open_process(tool)
    // Time asleep counts: what was copied before is taken back when the machine wakes up.
    _ = wait([process, timer, signals])
    kill(tool, SIGTERM)
    if wait([process], milliseconds: 500) == nil { kill(tool, SIGKILL) }
    var status: Int32 = 0
    while unsafe waitpid(tool, &status, 0) < 0 && errno == EINTR {}
    // Whoever has not read all of it does not have it, however it ended.
    var unread: Int32 = 0
    let isRead = unsafe ioctl(socket, UInt(FIONREAD), &unread) == 0 && unread == 0
    end(telling: status & 0x7F == 0 && isRead ? UInt8(truncatingIfNeeded: status >> 8) : 1, socket)
  }

  private static func start(_ kind: ClipboardTool.Kind, _ path: String, reading socket: Int32) -> pid_t? {
    guard kind.writesFile else {
      return ChildProcess.start(
        path, [kind.rawValue] + kind.arguments, environment: variables(), input: socket)
    }
    // It ends when this process does: its end of the pipe says so.
    var life: (reading: Int32, writing: Int32) = (-1, -1)
    guard unsafe coffer_pipe(&life.reading, &life.writing) == 0 else { return nil }
    defer { close(life.reading) }
    return ChildProcess.start(
      "/proc/self/exe", ["coffer", ClipboardHolder.argument, kind.rawValue, path], environment: variables(),
      input: socket, passing: life.reading)
  }

  private static func variables() -> [String] {
    // Where ``ClipboardHolder`` has memory.
    ChildProcess.variables().filter { !$0.hasPrefix("TMPDIR=") } + [
      "TMPDIR=/tmp", "SWIFT_BACKTRACE=enable=no",
    ]
  }

  /// The first of the descriptors that is readable; nil when the time is over.
  private static func wait(_ descriptors: [Int32], milliseconds: Int32 = -1) -> Int32? {
    var waits = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
      let count = unsafe poll(&waits, nfds_t(waits.count), milliseconds)
      if count > 0 { return waits.first { $0.revents != 0 }?.fd }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  /// Ends, and says how the program has ended, if somebody still listens.
  private static func end(telling status: UInt8, _ socket: Int32) -> Never {
    var status = status
    _ = unsafe send(socket, &status, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    _exit(0)
  }
}

/// This program in the role of the process that becomes one of the clipboard which writes the text into a file: first it
/// puts memory in the place of every folder that could be written to.
public enum ClipboardHolder {
  /// The first argument of that process; two more follow: the kind of program, and its path.
  public static let argument = "clipboard-holder"

  /// - Parameter arguments: all of the process but its name.
  public static func run(_ arguments: [String]) -> Never {
    let life = ChildProcess.passedDescriptor
    guard arguments.count == 3, let kind = ClipboardTool.Kind(rawValue: arguments[1]),
      unsafe coffer_enter_editor_sandbox(life, ChildProcess.folders(of: arguments[2])) == 0,
      fcntl(life, F_SETFD, FD_CLOEXEC) == 0
    else { _exit(1) }
    signal(SIGINT, SIG_DFL)
    signal(SIGQUIT, SIG_DFL)
    var argv = unsafe ([kind.rawValue] + kind.arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(arguments[2], &argv)
    _exit(1)
  }
}
