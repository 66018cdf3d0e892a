// SPDX-License-Identifier: Apache-2.0
//
// Slots whose secret is in a device: which of them the device that is here opens.

public import Secrets

extension Keybag {
  /// Tries `pin` on every slot that the device may have made.
  ///
  /// A slot of another device is passed over, and is the answer only when no slot is this one's.
  /// - Throws: `KeybagError.noSuchSlot`; what the device says, such as `.enclave`; `.corrupt`.
  public func unlock(_ device: some DeviceSlotMethod, pin: SharedSecretBytes) throws(KeybagError) -> Unlocked
  {
    var refusal = KeybagError.noSuchSlot
    for slot in slots where slot.kind == type(of: device).kind {
      let credential: SlotCredential
      do { credential = try device.credential(of: slot, pin: pin) } catch {
        guard type(of: device).concernsOneSlot(error) else { throw error }
        if !refusal.isWrongSecret { refusal = error }
        continue
      }
      do { return try unlock([slot], credential) } catch {
        // The device gave its secret, so the PIN was right: the slot is not what was stored.
        throw error == .wrongSecret ? .corrupt : error
      }
    }
    throw refusal
  }

  /// What keeps the device from opening any slot, as far as can be told without a PIN.
  ///
  /// - Returns: nil when a PIN is worth asking for; `.noSuchSlot` when there is no slot for one.
  public func obstacle(_ device: some DeviceSlotMethod) -> KeybagError? {
    var found: KeybagError?
    for slot in slots where slot.kind == type(of: device).kind {
      guard let obstacle = device.obstacle(of: slot) else { return nil }
      // That one slot is another device's says less than what this device says of itself.
      if found.map(type(of: device).concernsOneSlot) ?? true { found = obstacle }
    }
    return found ?? .noSuchSlot
  }
}
