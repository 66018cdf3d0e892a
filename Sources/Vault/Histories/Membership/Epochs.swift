// SPDX-License-Identifier: Apache-2.0
//
// Which epoch to seal under: the highest whose key nobody can have who was revoked, and no slot that was removed. Only an
// owner begins an epoch.

extension ControlLog {
  /// Whom the key of an epoch was sealed to: the recipients of every operation that hands it out.
  func recipients(of entry: LogEntry) -> (devices: Set<DeviceID>, slots: Set<SlotID>) {
    var devices: Set<DeviceID> = []
    var slots: Set<SlotID> = []
    if case .genesis(let genesis) = entry.operation.kind { devices.insert(genesis.device.id) }
    let giving = entries.values.filter { other in entry.begins.map(other.operation.handsOut.contains) ?? false
    }
    for other in entries.values {
      if let device = other.operation.kind.newDevice,
        giving.contains(where: { $0.isSealed(to: device.agreementKey) })
      {
        devices.insert(device.id)
      }
      for slot in other.operation.kind.newSlots
      where giving.contains(where: { $0.isSealed(to: slot.agreementKey) }) {
        slots.insert(slot.id)
      }
    }
    return (devices, slots)
  }

  /// Whether a member or a slot in force was never sent the key of an epoch: it came while somebody else began one.
  func somebodyLacksKeys(_ membership: Membership, of epochs: some Collection<EpochName>) -> Bool {
    entries.values.contains { entry in
      // Of branches that do not count, too: segments were sealed under their epochs.
      guard let epoch = entry.begins, epochs.contains(epoch) else { return false }
      let (devices, slots) = recipients(of: entry)
      return !devices.isSuperset(of: membership.members) || !slots.isSuperset(of: membership.slots.keys)
    }
  }

  /// Whether a slot in force was sent the key of an epoch that is not among these.
  func aSlotHasMore(_ membership: Membership, than epochs: some Collection<EpochName>) -> Bool {
    entries.values.contains { entry in
      guard let epoch = entry.begins, !epochs.contains(epoch) else { return false }
      return !recipients(of: entry).slots.isDisjoint(with: membership.slots.keys)
    }
  }

  /// The epochs that may be sealed under, best first.
  ///
  /// Who is revoked by the operation that begins an epoch, or by one before it, never gets the key: whoever hands it out
  /// knows of the revocation. Anybody else who was revoked may have it, also by an operation that is not here: an epoch
  /// that does not come after a revocation of each revoked device, and after a removal of each removed slot, is not safe.
  func safeEpochs(_ membership: Membership) -> [EpochName] {
    entries.values
      .filter { entry in
        guard entry.begins != nil, membership.counting.contains(entry.id) else { return false }
        let (devices, slots) = gone(before: [entry.id])
        return devices.isSuperset(of: membership.revocations.keys)
          && slots.isSuperset(of: membership.removedSlots)
      }
      .sorted { ($1.begins?.number ?? 0, $0.id) < ($0.begins?.number ?? 0, $1.id) }
      .compactMap(\.begins)
  }

  /// The devices and slots that these operations, or others before them, take out of the account.
  func gone(before heads: some Sequence<ControlID>) -> (devices: Set<DeviceID>, slots: Set<SlotID>) {
    var devices: Set<DeviceID> = []
    var slots: Set<SlotID> = []
    for id in upTo(Array(heads)) {
      guard let rekey = entries[id]?.rekey else { continue }
      devices.formUnion(rekey.revocations.map(\.device))
      slots.formUnion(rekey.removedSlots)
    }
    return (devices, slots)
  }
}

extension LogEntry {
  /// Whether one of its envelopes is for the owner of this key.
  func isSealed(to publicKey: [UInt8]) -> Bool {
    tags.contains(Envelope.tag(publicKey: publicKey, epoch: epoch))
  }
}
