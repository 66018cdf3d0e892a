// SPDX-License-Identifier: Apache-2.0
//
// The process that runs the editor. Every file that it or the editor writes is in memory, from before the text comes
// until the kernel frees it. The text itself is in locked memory or in that file, nowhere else.

internal import CSystem
internal import ChildProcesses
internal import Glibc
internal import Secrets

/// This program in the role of the process that runs an editor: see ``TextEditor``.
public enum EditorWorker {
  /// The first argument of that process; two more follow. A program that uses ``TextEditor`` must call ``run(_:)``
  /// when it is started with it, before it does anything else.
  public static let argument = "text-editor"

  /// The folder of the text. /tmp is new then, and nobody else sees it; the second name is for a user who needs a
  /// folder in one of the first.
  private static let folders = ["/tmp/coffer", "/tmp/coffer-text"]

  /// The whole life of the process. When isolation is refused, it reads nothing.
  ///
  /// - Parameter arguments: all of the process but its name.
  public static func run(_ arguments: [String]) -> Never {
    let channel = EditorChannel(socket: ChildProcess.passedDescriptor)
    var (user, parent) = (UInt32(), Int32())
    // Whoever types the argument has no socket here.
    guard arguments.count == 3, unsafe coffer_peer(channel.socket, &user, &parent) == 0,
      fcntl(channel.socket, F_SETFD, FD_CLOEXEC) == 0
    else { _exit(1) }
    let program = arguments[2]
    let step = unsafe coffer_enter_editor_sandbox(
      channel.socket, ChildProcess.folders(of: program.prefix { $0 != " " }))
    guard step == 0 else {
      let code = UInt32(truncatingIfNeeded: errno)
      end(channel.send(EditorMessage(.refused, detail: UInt32(step), code: code)))
    }
    guard channel.send(EditorMessage(.ready)), let message = channel.receive(), message.kind == .text,
      let path = keep(channel, message, "message.\(arguments[1])")
    else { end(false) }
    useTerminal()
    let status = edit(path, with: program)
    guard status == 0 else { end(channel.send(EditorMessage(.failed, detail: UInt32(status)))) }
    end(answer(channel, path, byteCountLimit: Int(message.detail)))
  }

  /// Not exit(3): handlers that other code has registered must not run in this process.
  private static func end(_ isDone: Bool) -> Never { _exit(isDone ? 0 : 1) }

  /// Takes the text and writes it into a file of this name, with a time of reading that says "never".
  /// - Returns: the path of the file.
  private static func keep(_ channel: EditorChannel, _ message: EditorMessage, _ name: String) -> String? {
    guard let text = channel.receiveText(message.textByteCount),
      let folder = folders.first(where: { unsafe mkdir($0, 0o700) == 0 })
    else { return nil }
    let path = "\(folder)/\(name)"
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let isWritten = text.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe coffer_write_all(file, $0.baseAddress, $0.count) == 0 }
    }
    let times = [timespec(), timespec(tv_sec: time(nil), tv_nsec: 0)]
    return unsafe isWritten && futimens(file, times) == 0 ? path : nil
  }

  /// An editor gets the terminal, whatever the standard streams of the command are: a text comes from one, or a result
  /// goes to another.
  private static func useTerminal() {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard terminal >= 0 else { return }
    for stream in STDIN_FILENO...STDERR_FILENO where isatty(stream) == 0 { dup2(terminal, stream) }
    close(terminal)
  }

  /// The line for the shell, which splits the editor's arguments, as git has it do. The shell becomes the editor; below
  /// more than a program and its arguments it stays until the editor has ended, whatever Control-C says.
  static func shellLine(_ program: String) -> String {
    guard !program.utf8.contains(where: "|&;<>()$`\\\"'*?[#~=%!{\n".utf8.contains) else {
      return "trap : INT QUIT\n\(program) \"$@\""
    }
    let name = program.prefix { $0 != " " }
    // Without a swap file, which could not be recovered, and without its history, which it cannot save: it would say so
    // and wait for a key.
    let isVim = ["vim", "nvim"].contains(name.split(separator: "/").last)
    return "exec \(name)\(isVim ? " -n -i NONE" : "")\(program.dropFirst(name.count)) \"$@\""
  }

  /// Runs the editor to its end; its status, as a shell would tell it.
  private static func edit(_ path: String, with program: String) -> Int32 {
    let editor = ChildProcess.start(
      "/bin/sh", ["sh", "-c", shellLine(program), program, path], environment: ChildProcess.variables())
    guard let editor else { return 127 }
    var status: Int32 = 0
    while true {
      let ended = unsafe waitpid(editor, &status, WUNTRACED)
      if ended < 0 && errno != EINTR { return 127 }
      guard ended == editor else { continue }
      let signal = status & 0x7F
      if status & 0xFF == 0x7F {
        // An editor that stops itself alone: the command stops too, and the user's shell sees it.
        kill(0, SIGTSTP)
      } else {
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
      }
    }
  }

  /// Sends what the file has now, if it is a file and not too large.
  private static func answer(_ channel: EditorChannel, _ path: String, byteCountLimit: Int) -> Bool {
    // Not blocking, because it may be a FIFO now.
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    var facts = stat()
    guard file >= 0, unsafe fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      return channel.send(EditorMessage(.missing))
    }
    defer { close(file) }
    // Some process of the editor goes on: it has left this one without a parent of its own.
    let goesOn = waitpid(-1, nil, WNOHANG) == 0
    let didNotWait = facts.st_atim.tv_sec == 0 || goesOn
    do {
      let text = try SecretBytes.read(fromDescriptor: file, byteCountLimit: byteCountLimit)
      let message = EditorMessage(.text, detail: didNotWait ? 1 : 0, textByteCount: UInt32(text.count))
      return channel.send(message) && text.withBytes { channel.send($0) }
    } catch .tooLong {
      return channel.send(EditorMessage(.tooLarge))
    } catch {
      return false
    }
  }
}
