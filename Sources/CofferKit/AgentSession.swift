// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its agent. The agent keeps the class keys of one coffer, named by the coffer's id, so that
// the keys of a coffer that was erased are never given to the one made in its place.

public import Agent
internal import Foundation
public import Keychains

/// The session of a coffer: what its agent keeps, if there is one.
public struct AgentSession: Sendable {
  private let home: String
  private let binding: [UInt8]

  public init(_ locked: LockedCoffer) {
    home = locked.home
    binding = unsafe withUnsafeBytes(of: locked.id.uuid) { unsafe Array($0) }
  }

  /// What the agent says of itself; nil when there is none, or it keeps the keys of another coffer.
  public func status() -> AgentStatus? { try? AgentClient.connect(home: home)?.status() }

  /// The keys that the agent gives, both or only *after first unlock*; nil when there is none that answers.
  ///
  /// An agent that does not answer is no reason to fail: a command works without one.
  public func keys() -> ClassKeys? { try? AgentClient.connect(home: home)?.keys(.all, binding: binding) }

  /// The key of the class *after first unlock* alone; the session is not prolonged.
  public func afterFirstUnlockKey() -> ClassKeys? {
    try? AgentClient.connect(home: home)?.keys(.afterFirstUnlock, binding: binding)
  }

  /// Drops the when-unlocked key.
  /// - Returns: whether there was an agent.
  public func lock() throws(AgentError) -> Bool {
    guard let agent = try AgentClient.connect(home: home) else { return false }
    try agent.lock()
    return true
  }

  /// Drops every key; the agent ends.
  /// - Returns: whether there was an agent.
  public func end() throws(AgentError) -> Bool {
    guard let agent = try AgentClient.connect(home: home) else { return false }
    try agent.logout()
    return true
  }

  /// Gives the keys to the agent, which is started if there is none.
  func begin(_ keys: ClassKeys, executable: String) throws(AgentError) -> AgentStatus {
    let agent = try AgentClient.connect(home: home) ?? AgentLauncher.start(home: home, executable: executable)
    try agent.give(keys, binding: binding)
    return try agent.status()
  }
}
