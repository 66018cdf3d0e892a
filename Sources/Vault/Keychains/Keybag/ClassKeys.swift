// SPDX-License-Identifier: Apache-2.0

internal import Primitives
public import Secrets

/// When a stored item can be read. Items never leave this device.
public enum AccessibilityClass: UInt8, Sendable, CaseIterable {
  /// Only while the coffer is unlocked.
  case whenUnlockedThisDeviceOnly = 1
  /// From the first unlock until logout or reboot, also while locked.
  case afterFirstUnlockThisDeviceOnly = 2
}

/// The keys of a keybag that are available now. A class key that is missing means *locked*.
public struct ClassKeys: Sendable {
  /// 32 bytes; nil while the coffer is locked.
  public let whenUnlocked: SharedSecretBytes?
  /// 32 bytes; nil before the first unlock.
  public let afterFirstUnlock: SharedSecretBytes?
  /// Shows that the owner is there: 32 random bytes that every slot wraps beside the class keys.
  ///
  /// It is not a class of items, and nothing is sealed under it directly. It is present only when a slot was
  /// opened in this process: agents do not get it, and sessions do not keep it.
  public let owner: SharedSecretBytes?

  /// Class keys that were passed on. Only a slot gives the owner key.
  public init(whenUnlocked: SharedSecretBytes?, afterFirstUnlock: SharedSecretBytes?) {
    self.init(whenUnlocked: whenUnlocked, afterFirstUnlock: afterFirstUnlock, owner: nil)
  }

  init(whenUnlocked: SharedSecretBytes?, afterFirstUnlock: SharedSecretBytes?, owner: SharedSecretBytes?) {
    self.whenUnlocked = whenUnlocked
    self.afterFirstUnlock = afterFirstUnlock
    self.owner = owner
  }

  /// Three new random keys.
  static func generate() -> ClassKeys {
    ClassKeys(
      whenUnlocked: SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount)),
      afterFirstUnlock: SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount)),
      owner: SharedSecretBytes(SystemRandom.secretBytes(count: SymmetricKey.byteCount)))
  }

  /// The key of a class, if it is available.
  public func key(for accessibility: AccessibilityClass) -> SharedSecretBytes? {
    switch accessibility {
    case .whenUnlockedThisDeviceOnly: whenUnlocked
    case .afterFirstUnlockThisDeviceOnly: afterFirstUnlock
    }
  }

  /// The keys that can be passed on while the coffer is unlocked: the class keys alone.
  public func withoutOwner() -> ClassKeys {
    ClassKeys(whenUnlocked: whenUnlocked, afterFirstUnlock: afterFirstUnlock)
  }

  /// The keys that stay when the screen locks.
  public func locked() -> ClassKeys { ClassKeys(whenUnlocked: nil, afterFirstUnlock: afterFirstUnlock) }
}
