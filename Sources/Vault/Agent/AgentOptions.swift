// SPDX-License-Identifier: Apache-2.0

/// How an agent is started.
public struct AgentOptions: Equatable, Sendable {
  /// The bounds of the limits: from a second to a day.
  public static let limitBounds: ClosedRange<Int> = 1...86_400

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
