// SPDX-License-Identifier: Apache-2.0

#if TPM
  /// A chip's state of wrong tries. Anybody may ask; the tries are those of the whole machine.
  public struct TPMLockoutStatus: Equatable, Sendable {
    /// Whether the chip refuses all keys that ask for a passcode.
    public let isLocked: Bool
    /// Seconds after which the chip forgives one try, at most.
    public let secondsLeft: Int
    /// Wrong tries that are left before it locks.
    public let triesLeft: Int
  }
#endif
