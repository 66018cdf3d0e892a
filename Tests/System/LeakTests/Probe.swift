// SPDX-License-Identifier: Apache-2.0
//
// A run of `leak-probe`: started by posix_spawn with pipes, told about secrets, ended by a signal.

import Foundation
import Glibc
import MemorySearch
import Synchronization

/// A probe that has let go of everything and waits.
final class Probe {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  let process: pid_t
  private(set) var secrets: [ToldSecret] = []
  /// Its end is the probe's, if nothing else was.
  private let orders: Int32
  /// Ends with the probe.
  private let told: Int32
  private var isRunning = true

  /// One built beside these tests, or COFFER_LEAK_PROBE.
  static let binary: String =
    ProcessInfo.processInfo.environment["COFFER_LEAK_PROBE"]
    ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "leak-probe")
    .path

  /// Longer than any operation takes on a busy machine.
  private static let limitMilliseconds: Int32 = 600_000
  /// A secret is shorter; more is not a frame of ours.
  private static let secretByteCountLimit = 1 << 20
  /// Pipes are made and passed on by one start at a time, so that no other probe keeps an end of them.
  private static let starting = Mutex(())

  /// Starts a probe and waits until it has let go.
  ///
  /// - Parameters:
  ///   - words: its arguments.
  ///   - folder: its home and its place for temporary files.
  ///   - complaints: a file for what it writes to standard error.
  init(_ words: [String], in folder: String, complaints: String) throws {
    let (process, orders, told) = try Self.starting.withLock { _ in
      try Self.start(words, in: folder, complaints: complaints)
    }
    self.process = process
    self.orders = orders
    self.told = told
    do {
      while let secret = try Self.next(told) {
        // Keys are told of as often as they are looked up.
        if !secrets.contains(where: { $0.bytes == secret.bytes }) { secrets.append(secret) }
      }
    } catch {
      let said = (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? ""
      end(by: SIGKILL)
      throw Failed(description: "\(words): \(error); it said: \(said)")
    }
  }

  deinit { if isRunning { end(by: SIGKILL) } }

  /// Ends the probe.
  /// - Returns: whether the kernel wrote, or piped, a core; nil when the probe outlived the signal.
  @discardableResult
  func end(by signal: Int32) -> Bool? {
    kill(process, signal)
    var waiting = pollfd(fd: told, events: 0, revents: 0)
    // The other end is closed after the core was written.
    let isOver = poll(&waiting, 1, Self.limitMilliseconds) > 0
    if !isOver { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    close(orders)
    close(told)
    isRunning = false
    return isOver ? status & 0x80 != 0 : nil
  }

  /// What `leak-probe list` says: names of operations, and what each needs.
  static func operations() throws -> [(name: String, need: String)] {
    let process = Process()
    process.executableURL = URL(filePath: binary)
    process.arguments = ["list"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map { line in
      let fields = line.split(separator: "\t").map(String.init)
      return (fields[0], fields.count > 1 ? fields[1] : "")
    }
  }

  // MARK: Start

  private static func start(
    _ words: [String], in folder: String, complaints: String
  ) throws -> (process: pid_t, orders: Int32, told: Int32) {
    let orders = try pipeEnds()
    let told = try pipeEnds()
    defer {
      close(orders.reading)
      close(told.writing)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, orders.reading, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, told.writing, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, complaints, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    // Threads of Dispatch have signals blocked, and a child would have them blocked too.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = ([binary] + words).map { strdup($0) } + [nil]
    var settings = environment(folder, isDumpable: words.first == "dumpable").map { strdup($0) } + [nil]
    defer { (arguments + settings).forEach { free($0) } }
    var process: pid_t = 0
    let failure = posix_spawn(&process, binary, &actions, &attributes, &arguments, &settings)
    guard failure == 0 else {
      close(orders.writing)
      close(told.reading)
      throw Failed(description: "\(binary) does not start: \(String(cString: strerror(failure)))")
    }
    return (process, orders.writing, told.reading)
  }

  private static func environment(_ folder: String, isDumpable: Bool) -> [String] {
    var settings = [
      "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=\(folder)", "TMPDIR=\(folder)",
      "XDG_RUNTIME_DIR=\(folder)", "LLVM_PROFILE_FILE=/dev/null",
      // As scripts/build links the product: lazy binding would leave registers on the stack.
      "LD_BIND_NOW=1",
    ]
    // Else the first signal only makes the Swift runtime tell of registers and of what they point to. The
    // product has to see to that itself.
    if isDumpable { settings.append("SWIFT_BACKTRACE=enable=no") }
    if let path = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] {
      settings.append("LD_LIBRARY_PATH=\(path)")
    }
    return settings
  }

  /// A pipe whose ends no other program inherits.
  private static func pipeEnds() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failed(description: "no pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  // MARK: What is told

  /// The next secret; nil once the probe has let go (Tests/Support/LeakProbe/SecretReport.swift).
  private static func next(_ descriptor: Int32) throws -> ToldSecret? {
    let head = try read(descriptor, count: 6)
    let byteCount = (0..<4).reduce(0) { $0 | Int(head[2 + $1]) << (8 * $1) }
    if head[0] == 2 { return nil }
    guard head[0] == 1, byteCount >= ToldSecret.shortest, byteCount <= secretByteCountLimit else {
      throw Failed(description: "no frame of a secret: kind \(head[0]), \(byteCount) bytes")
    }
    let name = String(decoding: try read(descriptor, count: Int(head[1])), as: UTF8.self)
    return ToldSecret(name: name, bytes: try read(descriptor, count: byteCount))
  }

  private static func read(_ descriptor: Int32, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, limitMilliseconds) > 0 else {
        throw Failed(description: "it says nothing")
      }
      let got = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress! + filled, count - filled)
      }
      guard got > 0 else { throw Failed(description: "it ended before it had let go") }
      filled += got
    }
    return bytes
  }
}
