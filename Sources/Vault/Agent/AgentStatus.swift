// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What the agent tells of itself.
public struct AgentStatus: Equatable, Sendable {
  /// Which keys are there.
  public enum State: UInt8, Sendable {
    case neverUnlocked = 1
    case unlocked = 2
    /// Only the after-first-unlock key is left.
    case locked = 3
  }

  /// Where the keys are.
  public enum KeyMemory: UInt8, Sendable {
    /// A page of `memfd_secret(2)`, which nobody else can read, and never swapped. The machine cannot
    /// hibernate meanwhile.
    case secret = 1
    /// A page locked against swapping.
    case locked = 2
  }

  /// Whether the agent hears of the screen's lock and of sleep.
  public enum SessionWatch: UInt8, Sendable {
    case watched = 1
    /// There is no systemd-logind: only the limits of time lock.
    case absent = 2
    case builtWithout = 3
  }

  public var state: State
  public var keyMemory: KeyMemory
  public var sessionWatch: SessionWatch
  /// Whether a shortage of memory locks.
  public var isPressureWatched: Bool
  public var processID: Int32
  public var idleLimitSeconds: Int
  public var absoluteLimitSeconds: Int
  /// Seconds until the idle limit locks, rounded up; nil unless unlocked.
  public var secondsUntilIdle: Int?
  /// Seconds until the absolute limit locks, rounded up; nil unless unlocked.
  public var secondsUntilAbsolute: Int?
  /// What the keys belong to; nil when there are none.
  public var binding: AgentBinding?
  /// The slot that was opened; nil when there are no keys.
  public var slot: UUID?
}
