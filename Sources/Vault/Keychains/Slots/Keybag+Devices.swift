// SPDX-License-Identifier: Apache-2.0
//
// Slots whose secret is in a device, and which of them the present device opens.

public import Secrets

extension Keybag {
  /// Tries `pin` on every slot that the device may have made.
  ///
  /// Slots of other devices are skipped; their error is thrown only if no slot belongs to this device.
  /// - Throws: `KeybagError.noSuchSlot`; the device's error, such as `.enclave`; `.corrupt`.
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

  /// Whether the device itself made a slot, as far as it says that without a PIN.
  public func hasSlot(of device: some DeviceSlotMethod) -> Bool {
    slots.contains { slot in
      guard slot.kind == type(of: device).kind else { return false }
      return device.obstacle(of: slot).map { !type(of: device).concernsOneSlot($0) } ?? true
    }
  }

  /// Why the device cannot open any slot, as far as can be told without a PIN.
  ///
  /// - Returns: nil when a PIN is worth asking for; `.noSuchSlot` when there is no slot for one.
  public func obstacle(_ device: some DeviceSlotMethod) -> KeybagError? {
    var found: KeybagError?
    for slot in slots where slot.kind == type(of: device).kind {
      guard let obstacle = device.obstacle(of: slot) else { return nil }
      // An error of this device says more than a slot that belongs to another device.
      if found.map(type(of: device).concernsOneSlot) ?? true { found = obstacle }
    }
    return found ?? .noSuchSlot
  }
}
