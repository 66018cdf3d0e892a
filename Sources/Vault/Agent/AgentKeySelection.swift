// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Keychains

/// Which class keys are wanted.
public enum AgentKeySelection: UInt8, Sendable, CaseIterable {
  /// The after-first-unlock key alone: it is there while the coffer is locked, and asking prolongs nothing.
  case afterFirstUnlock = 2
  /// Both, or what is left of them. If the when-unlocked key is among them, the idle time begins again.
  case all = 3
}

/// What the agent handed out.
public struct AgentKeys: Sendable {
  /// The class keys; the when-unlocked key is missing while the coffer is locked, and the owner key always.
  public let keys: ClassKeys
  /// The slot that was opened when they were given.
  public let slot: UUID
}
