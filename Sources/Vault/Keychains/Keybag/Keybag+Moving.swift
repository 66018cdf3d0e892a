// SPDX-License-Identifier: Apache-2.0
//
// The slots that a coffer takes along to another machine.

extension Keybag {
  /// These slots without those that only a device of this machine opens, for a coffer whose keychain is in its file.
  ///
  /// - Returns: the keybag, and the slots that were left out.
  /// - Throws: `KeybagError.corrupt`; `.wrongSecret` without the owner key; `.lastSlot` when no passphrase and no phrase would be left.
  public func movedToFile(_ keys: ClassKeys) throws(KeybagError) -> (keybag: Keybag, leftOut: [KeySlot]) {
    try checkOwner(keys)
    let leftOut = slots.filter { !$0.method.isPortable }
    var moved = Keybag(
      coffer: coffer, keychain: .file, generation: generation, slots: slots.filter { $0.method.isPortable },
      mac: [])
    guard moved.slots.contains(where: { $0.method.isEnough }) else { throw .lastSlot }
    moved.sign(keys)
    return (moved, leftOut)
  }
}
