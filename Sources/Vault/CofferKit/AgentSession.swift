// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its agent. The agent keeps the class keys of one coffer, bound to the coffer's id, so that the keys of
// an erased coffer are never used for a new one in the same place. The agent never gets the owner key.

public import Agent
internal import Foundation
public import Keychains
internal import Secrets

/// When a session ends.
public struct SessionLimits: Equatable, Sendable {
  /// Seconds without a command; nil for the setting, and without one for the agent's own limit.
  public var idleSeconds: Int?
  /// Seconds from the beginning, however much the session is used; nil likewise.
  public var absoluteSeconds: Int?

  /// Limits of a session; nil for those of the settings.
  public init(idleSeconds: Int? = nil, absoluteSeconds: Int? = nil) {
    (self.idleSeconds, self.absoluteSeconds) = (idleSeconds, absoluteSeconds)
  }
}

/// The session of a coffer: the keys that its agents keep, wherever they run.
public struct AgentSession: Sendable {
  /// Who keeps the keys.
  private enum Keeper {
    /// Agents of the coffer in this directory.
    case agents(home: String, AgentBinding?, AgentVariables)
    /// This process, of a coffer in memory. No agent is looked for.
    case memory(InMemorySession)
  }

  private let keeper: Keeper

  /// The session of this coffer.
  public init(_ locked: LockedCoffer) { self = locked.agents }

  /// The session of the coffer in `home`, which may be damaged or missing.
  /// - Parameter variables: of the environment.
  public init(home: String, variables: AgentVariables = .ofProcess) {
    self.init(home: home, coffer: try? LockedCoffer(home: home).id, variables)
  }

  init(home: String, coffer: UUID?, _ variables: AgentVariables) {
    let binding = coffer.map { coffer in
      let id = unsafe withUnsafeBytes(of: coffer.uuid) { unsafe Array($0) }
      return AgentBinding(to: id.rawSpan)
    }
    keeper = .agents(home: home, binding, variables)
  }

  /// Whether an agent may have a session of the coffer in `home`. The coffer is not opened.
  /// - Parameter variables: of the environment.
  public static func mayBeThere(home: String, variables: AgentVariables = .ofProcess) -> Bool {
    AgentFinder(home: home, binding: nil, variables: variables).hasAnswer
  }

  /// The session of a coffer in memory.
  init(_ session: InMemorySession) { keeper = .memory(session) }

  /// Nil for a coffer in memory.
  private var finder: AgentFinder? {
    guard case .agents(let home, let binding, let variables) = keeper else { return nil }
    return AgentFinder(home: home, binding: binding, variables: variables)
  }

  private var memory: InMemorySession? { if case .memory(let session) = keeper { session } else { nil } }

  /// The state of the coffer's agents, as far as they answer.
  public func look() -> AgentFinder.Sight { finder?.look() ?? AgentFinder.Sight() }

  /// The keys that an agent hands out; nil when no agent answers or it has none of these keys.
  public func keys(_ selection: AgentKeySelection) -> ClassKeys? {
    memory?.keys ?? finder?.keys(selection)?.keys
  }

  /// Drops the when-unlocked key that agents keep.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have it.
  public func lock() throws(AgentError) -> Bool {
    guard let finder else { return false }
    return try finder.lock()
  }

  /// Drops every key that agents keep; they end.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have keys.
  public func end() throws(AgentError) -> Bool {
    guard let finder else { return false }
    return try finder.end()
  }

  /// Gives the class keys to the agent, which is started if there is none. The owner key stays here.
  ///
  /// When this throws, it has not started a session; an earlier one may still be open.
  func begin(
    _ keys: ClassKeys, slot: UUID, limits: SessionLimits, executable: String
  ) throws(AgentError) -> (idleSeconds: Int, absoluteSeconds: Int) {
    guard case .agents(let home, let binding?, let variables) = keeper else { throw .noHome }
    let agent = try AgentLauncher.agent(home: home, executable: executable, variables: variables)
    // Asked before it has the keys: an agent that hangs is given none.
    _ = try agent.status()
    try agent.give(keys.withoutOwner(), binding: binding, slot: slot)
    do throws(AgentError) {
      if let seconds = limits.idleSeconds { try agent.setIdleLimit(seconds: seconds) }
      if let seconds = limits.absoluteSeconds { try agent.setAbsoluteLimit(seconds: seconds) }
      let status = try agent.status()
      return (status.idleLimitSeconds, status.absoluteLimitSeconds)
    } catch {
      // Not a session that lasts longer than it may.
      try? agent.lock()
      throw error
    }
  }

  /// The passcode of private keys, within the grace period.
  func passcode() -> SharedSecretBytes? { memory?.passcode() ?? finder?.passcode() }

  /// Lets agents with a session keep the passcode of private keys.
  func keep(_ passcode: SharedSecretBytes, seconds: Int) {
    memory?.keep(passcode, seconds: seconds)
    finder?.keep(passcode, seconds: seconds)
  }

  /// Drops the passcode of private keys that agents keep.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have it.
  func dropPasscode() throws(AgentError) {
    memory?.dropPasscode()
    try finder?.dropPasscode()
  }
}
