// SPDX-License-Identifier: Apache-2.0
//
// Slots for security keys. The key is asked outside of any transaction: it waits for a touch.

public import Keychains
public import SecurityKeys
internal import Storage
internal import Vaults

extension Coffer {
  /// What to enrol a security key with, for a slot with this label. From then on no other process changes the slots.
  ///
  /// - Throws: `CofferError.slotRequired` when an agent's keys opened this coffer; `KeybagError.invalidLabel`,
  ///   `.labelTaken`, `.tooManySlots`; `StorageError.inUse`.
  public func questionForSlot(labelled label: String) throws -> SecurityKeyQuestion {
    guard slot != nil else { throw CofferError.slotRequired }
    try file.claimWriting()
    let keybag = try file.read(.slots, Keybag.load)
    try keybag.checkLabel(label)
    guard keybag.slots.count < Keybag.slotLimit else {
      throw KeybagError.tooManySlots(limit: Keybag.slotLimit)
    }
    return keybag.securityKeyQuestion
  }

  /// Adds a security key that was enrolled just now.
  ///
  /// - Parameters:
  ///   - key: enrolled besides the credentials of the question, with its salt.
  ///   - label: the owner's name for the key.
  ///   - question: from ``questionForSlot(labelled:)``.
  /// - Throws: `KeybagError`.
  public func addSlot(
    _ key: EnrolledSecurityKey, label: String, _ question: SecurityKeyQuestion
  ) throws -> KeySlot {
    let slot = try changeKeybag {
      try $0.addSlot(key, label: label, salt: question.salt, keys: keys, now: clock.now())
    }
    audit(.slotAdded)
    return slot
  }
}
