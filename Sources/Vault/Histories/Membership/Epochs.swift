// SPDX-License-Identifier: Apache-2.0
//
// Which epoch to seal under: the highest that was sealed to nobody who has been revoked since, and to no slot that was
// removed. Only an owner begins an epoch.

extension ControlLog {
  /// Whom the key of an epoch was sealed to: the recipients of every operation that hands it out.
  func recipients(of entry: LogEntry) -> (devices: Set<DeviceID>, slots: Set<SlotID>) {
    var devices: Set<DeviceID> = []
    var slots: Set<SlotID> = []
    if case .genesis(let genesis) = entry.operation.kind { devices.insert(genesis.device.id) }
    let giving = entries.values.filter { other in entry.begins.map(other.operation.handsOut.contains) ?? false
    }
    for other in entries.values {
      if let device = other.operation.newDevice,
        giving.contains(where: { $0.isSealed(to: device.agreementKey) })
      {
        devices.insert(device.id)
      }
      for slot in other.operation.newSlots
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

  /// The epochs that may be sealed under, best first.
  func safeEpochs(_ membership: Membership) -> [EpochName] {
    entries.values
      .filter { entry in
        guard entry.begins != nil, membership.counting.contains(entry.id) else { return false }
        let (devices, slots) = recipients(of: entry)
        return devices.allSatisfy { membership.revocations[$0] == nil }
          && slots.isDisjoint(with: membership.removedSlots)
      }
      .sorted { ($1.begins?.number ?? 0, $0.id) < ($0.begins?.number ?? 0, $1.id) }
      .compactMap(\.begins)
  }
}

extension LogEntry {
  /// Whether one of its envelopes is for the owner of this key.
  func isSealed(to publicKey: [UInt8]) -> Bool {
    tags.contains(Envelope.tag(publicKey: publicKey, epoch: epoch))
  }
}
