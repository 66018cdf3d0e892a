// SPDX-License-Identifier: Apache-2.0
//
// Agents as processes: the last way to find or end one, when its socket is gone or cannot be reached.
// Everybody may read which programs run, and as which user.

internal import CSystem
internal import Glibc

/// The processes that run `coffer agent`.
enum RunningAgents {
  /// How long a process may take to end by itself, in milliseconds.
  static let deadlineMilliseconds: Int32 = 500

  /// The agents that were started for `home`, by this user or by the one whom the home belongs to.
  static func serving(_ home: String) -> [Int32] {
    guard let folder = unsafe opendir("/proc") else { return [] }
    defer { unsafe closedir(folder) }
    var found: [Int32] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let process = Int32(name), serves(process, home) { found.append(process) }
    }
    return found.sorted()
  }

  /// Those of ``serving(_:)`` that are not among `known` and do not end within the limit.
  static func lasting(_ home: String, except known: [Int32]) -> [Int32] {
    serving(home).filter { process in
      guard !known.contains(process) else { return false }
      let descriptor = coffer_open_process(process)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      return !hasEnded(descriptor) && serves(process, home)
    }
  }

  /// Ends an agent of `home` that cannot be asked: SIGTERM, on which it erases its keys, then SIGKILL, after
  /// which the kernel has taken its memory.
  /// - Returns: whether it has ended.
  static func end(_ process: Int32, _ home: String) -> Bool {
    let descriptor = coffer_open_process(process)
    guard descriptor >= 0 else { return errno == ESRCH }
    defer { close(descriptor) }
    // Checked while the descriptor holds the process: before, its number may have been reused.
    guard serves(process, home) else { return hasEnded(descriptor) }
    for signal in [SIGTERM, SIGKILL] {
      guard coffer_signal_process(descriptor, signal) == 0 || errno == ESRCH else { return false }
      if hasEnded(descriptor) { return true }
    }
    return false
  }

  private static func hasEnded(_ descriptor: Int32) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, deadlineMilliseconds) > 0
  }

  private static func serves(_ process: Int32, _ home: String) -> Bool {
    guard let line = contents("/proc/\(process)/cmdline"), isAgent(line, of: home),
      let status = contents("/proc/\(process)/status"), let user = user(status)
    else { return false }
    var owner = stat()
    return user == geteuid() || (unsafe stat(home, &owner) == 0 && owner.st_uid == user)
  }

  /// Whether a command line, its words ended by NUL, is that of an agent of `home`.
  static func isAgent(_ line: [UInt8], of home: String) -> Bool {
    let words = line.split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.first?.split(separator: "/").last == "coffer", words.contains("agent") else { return false }
    let option = "--home"
    let named = words.lastIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    let joined = words.last { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    guard let given = named ?? joined else { return false }
    return given == home || (given.hasPrefix("/") && AgentPlace.knownPath(given) == home)
  }

  /// The effective user in `/proc/PID/status`: "Uid:", then the real and the effective one.
  private static func user(_ status: [UInt8]) -> uid_t? {
    for line in status.split(separator: 0x0A) where line.starts(with: "Uid:".utf8) {
      let fields = line.split(separator: 0x09)
      return fields.count > 2 ? uid_t(String(decoding: fields[2], as: UTF8.self)) : nil
    }
    return nil
  }

  /// The bytes of a file of the kernel's, which has no size; nil when it cannot be read.
  static func contents(_ path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
    }
  }
}
