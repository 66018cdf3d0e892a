// SPDX-License-Identifier: Apache-2.0
//
// Starts `coffer agent` as a process that inherits nothing from this one: no terminal, no descriptors, no
// folder, and only the environment that it needs.

internal import CSystem
internal import Glibc

/// Starts the agent of a home.
public enum AgentLauncher {
  /// How a start succeeded.
  public enum Started: Equatable, Sendable {
    /// A new agent listens.
    case new(processID: Int32)
    /// An agent was running already, or another process started one first.
    case alreadyThere
  }

  /// How long an agent may take until it listens, in milliseconds: room for a busy machine that must read
  /// the program from disk.
  public static let deadlineMilliseconds = 10_000

  /// A connection to the agent of `home` at its place, which is started if there is none.
  /// - Throws: as ``start(home:executable:options:)``; `AgentError.notAnswering`.
  public static func agent(
    home: String, executable: String, variables: AgentVariables = .ofProcess
  ) throws(AgentError) -> AgentClient {
    let place = try AgentPlace(home: home, variables: variables)
    if let running = try AgentClient.find(place.socket) { return running }
    _ = try start(
      home: home, executable: executable, options: AgentOptions(), runtime: nil, variables: variables)
    guard let started = try AgentClient.find(place.socket) else { throw .notAnswering }
    return started
  }

  /// Starts `executable agent --home home`, and returns when it listens.
  ///
  /// The process is this one's child; one that lives on should `waitpid` for it.
  /// - Throws: `AgentError.startFailed`, `.notAnswering` (it was ended again), `.noHome`,
  ///   `.noRuntimeDirectory`, `.pathTooLong`, `.limitOutOfBounds`, `.system`.
  public static func start(
    home: String, executable: String, options: AgentOptions = AgentOptions()
  ) throws(AgentError) -> Started {
    try start(home: home, executable: executable, options: options, runtime: nil)
  }

  /// - Parameters:
  ///   - runtime: replaces `$XDG_RUNTIME_DIR`, also for the agent.
  ///   - variables: of the environment.
  ///   - deadlineMilliseconds: replaces ``deadlineMilliseconds``.
  static func start(
    home: String, executable: String, options: AgentOptions, runtime: String?,
    variables: AgentVariables = .ofProcess,
    deadlineMilliseconds: Int = deadlineMilliseconds
  ) throws(AgentError) -> Started {
    try options.check()
    let place = try AgentPlace(home: home, runtime: runtime, variables: variables)
    // Checked here, because an agent that cannot listen only ends, without giving a reason.
    unsafe try PacketSocket.withAddress(place.socket) { _, _ in }
    let arguments = arguments(place.home, options)
    let environment = variables.entries(runtime: runtime)
    let end = ContinuousClock.now.advanced(by: .milliseconds(deadlineMilliseconds))
    repeat {
      if (try? AgentClient.find(place.socket)?.status()) != nil { return .alreadyThere }
      if let child = try startOnce(executable, arguments, environment, end) {
        return .new(processID: child)
      }
      // Another agent has the lock: it listens, or is about to, or is about to end.
      if (try? AgentClient.find(place.socket)) != nil { return .alreadyThere }
    } while ContinuousClock.now < end
    throw .notAnswering
  }

  /// - Returns: nil when the new process has found another agent.
  private static func startOnce(
    _ executable: String, _ arguments: [String], _ environment: [String], _ end: ContinuousClock.Instant
  ) throws(AgentError) -> pid_t? {
    var ends: (reading: Int32, writing: Int32) = (-1, -1)
    guard unsafe coffer_pipe(&ends.reading, &ends.writing) == 0 else { throw .system(errno) }
    defer { close(ends.reading) }
    let spawned: Result<pid_t, AgentError>
    do throws(AgentError) {
      spawned = .success(try spawn(executable, arguments, environment, ready: ends.writing))
    } catch { spawned = .failure(error) }
    // Only the child has the other end now, so its death is heard.
    close(ends.writing)
    let child = try spawned.get()
    switch readyByte(ends.reading, end) {
    case ReadyDescriptor.listening: return child
    case ReadyDescriptor.served:
      _ = exitCode(child)
      return nil
    case .some: throw .startFailed(exitCode: exitCode(child))
    case nil:
      kill(child, SIGKILL)
      _ = exitCode(child)
      throw .notAnswering
    }
  }

  /// The number that the child's end of the pipe has there.
  private static let readyNumber: Int32 = 3

  private static func arguments(_ home: String, _ options: AgentOptions) -> [String] {
    var arguments = [
      "coffer", "agent", "--home", home, "--idle-limit", "\(options.idleLimitSeconds)",
      "--absolute-limit", "\(options.absoluteLimitSeconds)", "--ready-fd", "\(readyNumber)",
    ]
    if options.usesOrdinaryMemory { arguments.append("--ordinary-memory") }
    if options.locksOnMemoryPressure { arguments.append("--lock-on-memory-pressure") }
    return arguments
  }

  private static func spawn(
    _ executable: String, _ arguments: [String], _ environment: [String], ready: Int32
  ) throws(AgentError) -> pid_t {
    var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    let child = unsafe coffer_spawn_apart(executable, &argv, &envp, ready, readyNumber)
    guard child > 0 else { throw .system(-child) }
    return child
  }

  /// The byte from the child; 0 when it ended without one, nil when the time is over.
  private static func readyByte(_ descriptor: Int32, _ end: ContinuousClock.Instant) -> UInt8? {
    while true {
      let left = end - ContinuousClock.now
      guard left > .zero else { return nil }
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let milliseconds =
        left.components.seconds * 1_000
        + left.components.attoseconds / 1_000_000_000_000_000 + 1
      guard unsafe poll(&polled, 1, Int32(milliseconds)) > 0 else { continue }
      var byte: UInt8 = 0
      let count = unsafe read(descriptor, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      return count == 1 ? byte : 0
    }
  }

  private static func exitCode(_ child: pid_t) -> Int32? {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { return nil }
    }
    // WIFEXITED and WEXITSTATUS.
    return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
  }
}
