// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its agent. The agent keeps the class keys of one coffer, named by the coffer's id, so that
// the keys of a coffer that was erased are never given to the one made in its place. It never gets the owner
// key.

public import Agent
internal import Foundation
public import Keychains

/// The session of a coffer: what its agent keeps, if there is one.
public struct AgentSession: Sendable {
  private let home: String
  private let binding: AgentBinding

  public init(_ locked: LockedCoffer) { self.init(home: locked.home, coffer: locked.id) }

  init(home: String, coffer: UUID) {
    self.home = home
    let id = unsafe withUnsafeBytes(of: coffer.uuid) { unsafe Array($0) }
    binding = unsafe AgentBinding(to: id.span.bytes)
  }

  /// What the agent says of itself; nil when there is none that answers, or it keeps another coffer's keys.
  public func status() -> AgentStatus? {
    guard let status = try? AgentClient.connect(home: home)?.status() else { return nil }
    return status.binding == nil || status.binding == binding ? status : nil
  }

  /// The keys that the agent gives; nil when there is none that answers, or none of them is there.
  ///
  /// An agent that does not answer is no reason to fail: every command works without one.
  public func keys(_ selection: AgentKeySelection) -> ClassKeys? {
    try? AgentClient.connect(home: home)?.keys(selection, binding: binding).keys
  }

  /// Drops the when-unlocked key that the agent of `home` keeps, whatever became of the coffer there.
  /// - Returns: whether there was an agent.
  public static func lock(home: String) throws(AgentError) -> Bool {
    guard let agent = try AgentClient.find(home: home) else { return false }
    try agent.lock()
    return true
  }

  /// Drops every key that the agent of `home` keeps, whatever became of the coffer there; the agent ends.
  /// - Returns: whether there was an agent.
  public static func end(home: String) throws(AgentError) -> Bool {
    guard let agent = try AgentClient.find(home: home) else { return false }
    try agent.logout()
    return true
  }

  /// Gives the class keys to the agent, which is started if there is none. The owner key stays here.
  func begin(_ keys: ClassKeys, slot: UUID, executable: String) throws(AgentError) -> AgentStatus {
    let found: AgentClient?
    if let running = AgentClient.connect(home: home) {
      found = running
    } else {
      _ = try AgentLauncher.start(home: home, executable: executable)
      found = AgentClient.connect(home: home)
    }
    guard let agent = found else { throw .notAnswering }
    try agent.give(keys.withoutOwner(), binding: binding, slot: slot)
    return try agent.status()
  }
}
