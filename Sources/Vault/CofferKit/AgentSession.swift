// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its agent. The agent keeps the class keys of one coffer, bound to the coffer's id, so that the keys of
// an erased coffer are never used for a new one in the same place. The agent never gets the owner key.

public import Agent
internal import Foundation
public import Keychains
internal import Secrets

/// The session of a coffer: the keys that its agents keep, wherever they run.
public struct AgentSession: Sendable {
  private let home: String
  private let binding: AgentBinding?

  /// The session of this coffer.
  public init(_ locked: LockedCoffer) { self.init(home: locked.home, coffer: locked.id) }

  /// The session of the coffer in `home`, which may be damaged or missing.
  public init(home: String) { self.init(home: home, coffer: try? LockedCoffer(home: home).id) }

  init(home: String, coffer: UUID?) {
    self.home = home
    binding = coffer.map { coffer in
      let id = unsafe withUnsafeBytes(of: coffer.uuid) { unsafe Array($0) }
      return AgentBinding(to: id.rawSpan)
    }
  }

  private var finder: AgentFinder { AgentFinder(home: home, binding: binding) }

  /// The state of the coffer's agents, as far as they answer.
  public func look() -> AgentFinder.Sight { finder.look() }

  /// The keys that an agent hands out; nil when no agent answers or it has none of these keys.
  public func keys(_ selection: AgentKeySelection) -> ClassKeys? { finder.keys(selection)?.keys }

  /// Drops the when-unlocked key that agents keep.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have it.
  public func lock() throws(AgentError) -> Bool { try finder.lock() }

  /// Drops every key that agents keep; they end.
  /// - Returns: whether there was an agent.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have keys.
  public func end() throws(AgentError) -> Bool { try finder.end() }

  /// Gives the class keys to the agent, which is started if there is none. The owner key stays here.
  ///
  /// When this throws, it has not started a session; an earlier one may still be open.
  func begin(
    _ keys: ClassKeys, slot: UUID, idleLimit: Int?, executable: String
  ) throws(AgentError) -> (idleSeconds: Int, absoluteSeconds: Int) {
    guard let binding else { throw .noHome }
    let agent = try AgentLauncher.agent(home: home, executable: executable)
    // Asked before it has the keys: an agent that hangs is given none.
    let status = try agent.status()
    try agent.give(keys.withoutOwner(), binding: binding, slot: slot)
    if let idleLimit { try agent.setIdleLimit(seconds: idleLimit) }
    return (idleLimit ?? status.idleLimitSeconds, status.absoluteLimitSeconds)
  }

  /// The passcode of private keys, within the grace period.
  func passcode() -> SharedSecretBytes? { finder.passcode() }

  /// Lets agents with a session keep the passcode of private keys.
  func keep(_ passcode: SharedSecretBytes, seconds: Int) { finder.keep(passcode, seconds: seconds) }

  /// Drops the passcode of private keys that agents keep.
  /// - Throws: `AgentError.unreachable`, `.notAnswering`: one of them may still have it.
  func dropPasscode() throws(AgentError) { try finder.dropPasscode() }
}
