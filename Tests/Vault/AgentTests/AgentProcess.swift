// SPDX-License-Identifier: Apache-2.0
//
// Agents in processes of their own. None outlives the test process: a shell reads a socket whose other end
// only the test process holds, and kills when that closes.

import CSystem
import Foundation
import Testing

@testable import Agent

/// Kills a process when the test process ends, however that ends.
final class Watchdog: Sendable {
  private let line: Int32
  private let shell: pid_t

  /// - Parameters:
  ///   - command: a program for the shell to run meanwhile, or nothing.
  ///   - victim: a process to kill at the end; nil for the command.
  init(command: [String] = [], victim: pid_t? = nil, environment: [String] = []) throws {
    let script = """
      victim=$1; shift
      exec 7</dev/zero
      if [ $# -gt 0 ]; then "$@" </dev/null & fi
      cat >/dev/null
      [ -n "$victim" ] && kill -KILL "$victim"
      kill -KILL 0
      """
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)
    let words = ["sh", "-c", script, "sh", victim.map { "\($0)" } ?? ""] + command
    var argv = words.map { strdup($0) } + [nil]
    var envp = (["PATH=/usr/bin:/bin"] + environment).map { strdup($0) } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    var child: pid_t = 0
    let result = posix_spawn(&child, "/bin/sh", &actions, &attributes, &argv, &envp)
    guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
    (shell, line) = (child, ends[0])
  }

  deinit {
    kill(-shell, SIGKILL)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0 && errno == EINTR {}
    close(line)
  }
}

/// The command `coffer agent` for one home.
final class AgentProcess: Sendable {
  /// COFFER_BINARY, else the one built beside these tests.
  static let binary: String =
    ProcessInfo.processInfo.environment["COFFER_BINARY"]
    ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "coffer").path

  /// What the ordinary user starts: as root a copy, if these tests are where that user may not go, such as in root's home.
  private static let reachableBinary: String = {
    let folders = sequence(first: URL(filePath: binary).resolvingSymlinksInPath().deletingLastPathComponent())
    {
      $0.path == "/" ? nil : $0.deletingLastPathComponent()
    }
    let isReachable = folders.allSatisfy { folder in
      var status = stat()
      return stat(folder.path, &status) == 0 && status.st_mode & S_IXOTH != 0
    }
    guard geteuid() == 0, !isReachable else { return binary }
    try? FileManager.default.copyItem(atPath: binary, toPath: copy)
    atexit { unlink(AgentProcess.copy) }
    return copy
  }()

  private static let copy = FileManager.default.temporaryDirectory.path + "/coffer-\(UUID().uuidString)"

  /// An ordinary user: as root, another one than ourselves.
  static let ordinaryUser: uid_t = geteuid() == 0 ? 65_534 : geteuid()

  let folder: RuntimeFolder
  let processID: pid_t
  private let watchdog: Watchdog

  /// Starts one as an ordinary user, and waits until it answers that user.
  init(_ options: [String] = []) throws {
    folder = try RuntimeFolder(owner: Self.ordinaryUser)
    watchdog = try Watchdog(
      command: Self.asOrdinaryUser(
        [Self.reachableBinary, "agent", "--quiet", "--home", folder.home] + options),
      environment: [
        "XDG_RUNTIME_DIR=\(folder.path)", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent",
        "LLVM_PROFILE_FILE=/dev/null",
      ])
    let folder = folder
    var found: pid_t?
    try eventually {
      found = try? Self.ask(["status"], folder).first.flatMap { Int32($0) }
      return found != nil
    }
    processID = try #require(found)
  }

  static func asOrdinaryUser(_ command: [String]) -> [String] {
    guard geteuid() == 0 else { return command }
    let user = "\(ordinaryUser)"
    return ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups"] + command
  }

  static let isUsable =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
    && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

  // MARK: A client of the specification, not of the program

  /// Lets the ordinary user send requests: `status` (answers the process id and the state), `give HEX`,
  /// `get 2|3|4`, `keep SECONDS HEX`, `lock`, `logout`. One answer a request; `closed` when the agent closes instead.
  func ask(_ requests: [String], asRoot: Bool = false) throws -> [String] {
    try Self.ask(requests, folder, asRoot: asRoot)
  }

  private static func ask(
    _ requests: [String], _ folder: RuntimeFolder, asRoot: Bool = false
  ) throws -> [String] {
    let script = """
      import hashlib, os, socket, struct, sys
      runtime, home = sys.argv[1:3]
      name = hashlib.sha256(os.path.realpath(home).encode()).digest()[:16].hex()
      s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      s.settimeout(600)
      s.connect(f"{runtime}/coffer/{name}/agent.sock")
      binding, slot, no = b"B" * 32, b"S" * 16, bytes
      def message(kind, keys=0, binding=no(32), slot=no(16), tail=b""):
          return b"COFA" + bytes([1, kind, keys, 0]) + binding + slot + tail
      for line in sys.argv[3:]:
          word, _, rest = line.partition(" ")
          s.send({"status": lambda: message(1),
                  "keep": lambda: message(6, 4, binding, tail=struct.pack(">I", int(rest.split()[0])) + bytes.fromhex(rest.split()[1])),
                  "give": lambda: message(2, 3, binding, slot, bytes.fromhex(rest)),
                  "get": lambda: message(3, int(rest), binding), "lock": lambda: message(4),
                  "logout": lambda: message(5)}[word]())
          try: a = s.recv(1000)
          except ConnectionResetError: a = b""
          if not a: print("closed"); break
          assert a[:5] == b"COFA\\x01" and a[7] == 0 and len(a) >= 56
          if a[5] == 1: print(struct.unpack(">I", a[60:64])[0]); print("state", a[56], "memory", a[57])
          elif a[5] == 2: print("done")
          elif a[5] == 3: assert a[8:56] == binding + slot; print(a[6], a[56:].hex())
          else: print("refused", a[5])
      """
    var command = ["/usr/bin/python3", "-c", script, folder.path, folder.home] + requests
    if !asRoot { command = asOrdinaryUser(command) }
    return try run(command).split(separator: "\n").map(String.init)
  }

  /// Runs a program to its end.
  /// - Returns: what it printed.
  @discardableResult
  static func run(_ command: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: command[0])
    process.arguments = Array(command.dropFirst())
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }
}

/// What can be told of another process from outside.
struct ProcessView {
  let processID: pid_t
  private var folder: String { "/proc/\(processID)" }

  func text(_ name: String) throws -> String {
    let handle = try FileHandle(forReadingFrom: URL(filePath: "\(folder)/\(name)"))
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// A line of `/proc/PID/status`.
  func status(_ name: String) throws -> String {
    let line = try text("status").split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return try #require(line).dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
  }

  /// What its descriptors are.
  func descriptors() throws -> [Int: String] {
    var found: [Int: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/fd") {
      guard let number = Int(name) else { continue }
      found[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\(name)")
    }
    return found
  }

  /// The regions in which one of the halves of `bytes` stands. Pages that cannot be read are left out.
  /// - Returns: the regions, and how many bytes were read.
  func search(_ bytes: [UInt8]) throws -> (places: [String], readByteCount: Int) {
    let memory = open("\(folder)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw POSIXError(.EACCES) }
    defer { close(memory) }
    let half = bytes.count / 2
    var (places, total): ([String], Int) = ([], 0)
    let page = Int(getpagesize())
    for line in try text("maps").split(separator: "\n") {
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      let ends = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      // A sanitizer's map of all memory, of tebibytes, holds no data.
      guard ends.count == 2, fields[1].hasPrefix("r"), ends[1] - ends[0] < 1 << 40 else { continue }
      var content = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
      var read = pread(memory, &content, content.count, Int(bitPattern: ends[0]))
      if read < content.count {
        // Page by page around what cannot be read.
        read = 0
        for start in stride(from: 0, to: content.count, by: page) {
          let got = content.withUnsafeMutableBytes {
            pread(memory, $0.baseAddress! + start, page, Int(bitPattern: ends[0]) + start)
          }
          read += max(got, 0)
        }
      }
      total += max(read, 0)
      for part in [bytes[..<half], bytes[half...]] {
        let isThere = part.withUnsafeBytes { part in
          coffer_find(content, content.count, part.baseAddress, part.count) != nil
        }
        if isThere { places.append(fields.count > 5 ? String(fields[5]) : "anonymous memory") }
      }
    }
    return (places, total)
  }
}
