// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The state of an agent.
public struct AgentStatus: Equatable, Sendable {
  /// Which keys the agent holds.
  public enum State: UInt8, Sendable {
    /// No keys: nothing was handed over since the agent started, or since both keys were erased.
    case neverUnlocked = 1
    /// Both class keys.
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
    /// Yes, through systemd-logind.
    case watched = 1
    /// There is no systemd-logind: only the limits of time lock.
    case absent = 2
    /// No: the package trait `Logind` was off in this build.
    case builtWithout = 3
  }

  /// Which keys the agent holds.
  public var state: State
  /// The kind of memory that the keys are in.
  public var keyMemory: KeyMemory
  /// Whether the screen's lock and sleep lock the coffer too.
  public var sessionWatch: SessionWatch
  /// Whether a shortage of memory locks.
  public var isPressureWatched: Bool
  /// The agent's process.
  public var processID: Int32
  /// Seconds without a use of the when-unlocked key until it is erased.
  public var idleLimitSeconds: Int
  /// Seconds from an unlocking until the when-unlocked key is erased.
  public var absoluteLimitSeconds: Int
  /// Seconds until the idle limit locks, rounded up; nil unless unlocked.
  public var secondsUntilIdle: Int?
  /// Seconds until the absolute limit locks, rounded up; nil unless unlocked.
  public var secondsUntilAbsolute: Int?
  /// The coffer of the keys; nil when there are none.
  public var binding: AgentBinding?
  /// The slot that was opened; nil when there are no keys.
  public var slot: UUID?
}

/// How an agent is started.
public struct AgentOptions: Equatable, Sendable {
  /// The bounds of the limits: from a second to a day.
  public static let limitBounds: ClosedRange<Int> = 1...86_400

  /// The longest time that the passcode of private keys is kept.
  public static let graceLimitSeconds = 3600

  /// Seconds without a use of the when-unlocked key until it is erased.
  public var idleLimitSeconds = 300
  /// Seconds from an unlocking until the when-unlocked key is erased, however much it is used.
  public var absoluteLimitSeconds = 28_800
  /// Keeps the keys in ordinary locked memory even if the kernel has better, so that the machine can
  /// hibernate; both keys are then erased before sleep.
  public var usesOrdinaryMemory = false
  /// Locks when tasks wait for memory more than a tenth of two seconds.
  public var locksOnMemoryPressure = false
  /// Where to write one byte when the agent listens.
  public var readyDescriptor: Int32?

  /// The usual options: 5 minutes idle, 8 hours in all.
  public init() {}

  /// - Throws: `AgentError.limitOutOfBounds`.
  func check() throws(AgentError) {
    guard Self.limitBounds.contains(idleLimitSeconds), Self.limitBounds.contains(absoluteLimitSeconds) else {
      throw .limitOutOfBounds
    }
  }
}
