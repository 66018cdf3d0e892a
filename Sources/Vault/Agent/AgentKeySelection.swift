// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Keychains

/// Which class keys to ask for.
public enum AgentKeySelection: UInt8, Sendable, CaseIterable {
  /// The after-first-unlock key alone: it is available while the coffer is locked, and asking for it does not
  /// restart the idle time.
  case afterFirstUnlock = 2
  /// Both, or the one that is left. If the when-unlocked key is among them, the idle time restarts.
  case all = 3
}

/// The keys that the agent gave.
public struct AgentKeys: Sendable {
  /// The class keys; the when-unlocked key is missing while the coffer is locked, and the owner key always.
  public let keys: ClassKeys
  /// The slot that was opened when they were given.
  public let slot: UUID
}
