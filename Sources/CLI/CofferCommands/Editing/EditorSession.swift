// SPDX-License-Identifier: Apache-2.0
//
// The process in which an editor runs: this program, started again. Before it reads the text, it takes a mount namespace
// in which every file system is read-only, but for one in memory. So whatever the editor writes (swap files, backups,
// histories) is in memory, and gone with the last process that sees it, also after a kill.

internal import CSystem
internal import Glibc
internal import MessageFormats
internal import Secrets

enum EditorSession {
  /// The first argument; the second is the ending of the file's name.
  static let argument = "editor-session"
  /// Where the socket is.
  static let socket: Int32 = 3

  /// Does it all and ends the process.
  static func run(ending: String) -> Never {
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    exit(edit(ending) ? 0 : 1)
  }

  /// - Returns: whether the answer was sent.
  private static func edit(_ ending: String) -> Bool {
    var memory: UnsafePointer<CChar>?
    let step = unsafe coffer_enter_memory_only(&memory)
    guard step == 0, let memory = unsafe memory else { return tell(.impossible, detail: step << 16 | errno) }
    var template = unsafe Array("\(String(cString: memory))/coffer-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { return tell(.impossible, detail: errno) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    unsafe setenv("TMPDIR", folder, 1)
    let path = "\(folder)/message.\(ending)"
    do {
      try SecretMemory.prepare()
      let text = try SecretBytes.read(
        fromDescriptor: socket, byteCountLimit: MessageLimits.messageByteCount)
      guard write(text, to: path) else { return tell(.impossible, detail: errno) }
      guard let editor = command() else { return tell(.noEditor) }
      let status = unsafe coffer_run_shell("\(editor) \"$@\"", path)
      guard status == 0 else { return tell(.failed, detail: exitStatus(status)) }
      return answer(path, before: text)
    } catch {
      return tell(.impossible)
    }
  }

  /// As shells give it.
  /// - Parameter status: of waitpid; -1 when it could not be started.
  private static func exitStatus(_ status: Int32) -> Int32 {
    if status < 0 { return 127 }
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }

  /// What to run; as git chooses.
  private static func command() -> String? {
    if let named = ["VISUAL", "EDITOR"].lazy.compactMap(variable).first(where: { !$0.isEmpty }) {
      return named
    }
    let folders = variable("PATH") ?? "/usr/bin:/bin"
    return ["sensible-editor", "nano", "vi"].first { name in
      folders.split(separator: ":").contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
    }
  }

  private static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  private static func write(_ text: borrowing SecretBytes, to path: String) -> Bool {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    return text.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe coffer_write_all(file, $0.baseAddress, $0.count) } == 0
    }
  }

  private static func answer(_ path: String, before: borrowing SecretBytes) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return tell(.gone) }
    defer { close(file) }
    do throws(SecretReadError) {
      let after = try SecretBytes.read(fromDescriptor: file, byteCountLimit: MessageLimits.messageByteCount)
      if after.isEqual(to: before) { return tell(.unchanged) }
      guard tell(.edited) else { return false }
      return after.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe coffer_write_all(socket, $0.baseAddress, $0.count) } == 0
      }
    } catch {
      if case .tooLong = error { return tell(.tooLarge) }
      return tell(.gone)
    }
  }

  private static func tell(_ outcome: EditorAnswer.Outcome, detail: Int32 = 0) -> Bool {
    let header = EditorAnswer.header(outcome, detail: detail)
    return unsafe coffer_write_all(socket, header, header.count) == 0
  }
}
