// SPDX-License-Identifier: Apache-2.0

internal import Primitives
public import Secrets

/// When a stored item can be read (KC-07, D14). Nothing ever leaves this device.
public enum AccessibilityClass: UInt8, Sendable, CaseIterable {
  /// Only while the coffer is unlocked.
  case whenUnlockedThisDeviceOnly = 1
  /// From the first unlock until logout or reboot, also while locked.
  case afterFirstUnlockThisDeviceOnly = 2
}

/// The class keys that are available now. One that is missing means *locked*.
public struct ClassKeys: Sendable {
  public let whenUnlocked: SharedSecret?
  public let afterFirstUnlock: SharedSecret?

  public init(whenUnlocked: SharedSecret?, afterFirstUnlock: SharedSecret?) {
    self.whenUnlocked = whenUnlocked
    self.afterFirstUnlock = afterFirstUnlock
  }

  /// Two new random class keys.
  static func generate() -> ClassKeys {
    ClassKeys(
      whenUnlocked: SharedSecret(SystemRandom.secretBytes(count: SymmetricKey.byteCount)),
      afterFirstUnlock: SharedSecret(SystemRandom.secretBytes(count: SymmetricKey.byteCount)))
  }

  /// The key of a class, if it is available.
  public func key(for accessibility: AccessibilityClass) -> SharedSecret? {
    switch accessibility {
    case .whenUnlockedThisDeviceOnly: whenUnlocked
    case .afterFirstUnlockThisDeviceOnly: afterFirstUnlock
    }
  }

  /// What is left when the screen locks.
  public func locked() -> ClassKeys { ClassKeys(whenUnlocked: nil, afterFirstUnlock: afterFirstUnlock) }
}
