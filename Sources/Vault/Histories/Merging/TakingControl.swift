// SPDX-License-Identifier: Apache-2.0
//
// Taking control operations into a history: who can open them, and whether they belong to this account.

internal import Primitives

/// What becomes of a control object.
enum ControlTaking: Sendable {
  case taken
  /// A parent or an epoch's key is missing.
  case waiting
  /// It will never be an operation of this account, whatever else comes.
  case refused
}

extension History {
  /// Opens and takes in a sealed control operation.
  mutating func takeControl(
    _ object: [UInt8], name: ObjectName, slot: OpenedSlot?, on machine: some Machine
  ) -> ControlTaking {
    // Anybody who may write at the remote can put there what nobody can open.
    guard let epoch = try? ControlSeal.epoch(of: object),
      let envelopes = try? ControlSeal.envelopes(of: object)
    else { return .waiting }
    let tags = Set(envelopes.compactMap { try? Envelope.tag(of: $0) })
    openEnvelopes(of: object, epoch: epoch, slot: slot, on: machine)
    guard let keys = keys[epoch] else { return .waiting }
    guard let signed = try? ControlSeal.open(object, account: account, keys: keys) else {
      // A key that no operation here begins may be another one with the same name.
      return log.begins(epoch) ? .refused : .waiting
    }
    guard case .control(signed.operation.number, _) = name else { return .refused }
    do throws(LogRefusal) {
      try log.insert(signed, object: object, epoch: epoch, tags: tags, machine: machine)
      newObjects.append(StoredObject(name: name, object: object))
      return .taken
    } catch {
      return error == .parentMissing ? .waiting : .refused
    }
  }

  /// Takes keys out of envelopes for this device, or for a slot that is open. A key counts only if the log or, before
  /// there is one, the object's own head names its commitment.
  mutating func openEnvelopes(
    of object: [UInt8], epoch: EpochName, slot: OpenedSlot?, on machine: some Machine
  ) {
    var opened = ownEnvelopes(of: object, epoch: epoch, on: machine)
    if let slot { opened += openedEnvelopes(of: object, epoch: epoch, for: slot, on: machine) }
    for keys in opened.flatMap(\.epochKeys) where self.keys[keys.name] == nil && log.fits(keys) {
      self.keys[keys.name] = keys
    }
  }

  /// What the envelopes for this device hold.
  func ownEnvelopes(of object: [UInt8], epoch: EpochName, on machine: some Machine) -> [EnvelopeContents] {
    openedEnvelopes(
      of: object, epoch: epoch, for: .device(device), publicKey: entry.agreementKey, key: .device, on: machine
    )
  }

  /// What the envelopes for a slot hold.
  func openedEnvelopes(
    of object: [UInt8], epoch: EpochName, for slot: OpenedSlot, on machine: some Machine
  ) -> [EnvelopeContents] {
    openedEnvelopes(
      of: object, epoch: epoch, for: .slot(slot.id), publicKey: slot.agreement.publicKey,
      key: .memory(slot.agreement), on: machine)
  }

  private func openedEnvelopes(
    of object: [UInt8], epoch: EpochName, for recipient: EnvelopeRecipient, publicKey: [UInt8],
    key: PrivateKey,
    on machine: some Machine
  ) -> [EnvelopeContents] {
    let tag = Envelope.tag(publicKey: publicKey, epoch: epoch)
    return ((try? ControlSeal.envelopes(of: object)) ?? []).compactMap { envelope in
      guard (try? Envelope.tag(of: envelope)) == tag else { return nil }
      return try? Envelope.open(
        envelope, recipient: recipient, publicKey: publicKey, key: key, epoch: epoch, account: account,
        machine: machine)
    }
  }

  /// Opens envelopes for this device in operations that are known and whose keys are not here: its keys may have changed
  /// since, or a slot opened the operation.
  mutating func openOwnEnvelopes(on machine: some Machine) {
    for entry in log.ordered
    where entry.operation.handsOut.contains(where: { keys[$0] == nil })
      && entry.isSealed(to: self.entry.agreementKey)
    {
      openEnvelopes(of: entry.object, epoch: entry.epoch, slot: nil, on: machine)
    }
  }

  /// Takes in the control operations that can be opened now.
  mutating func openControl(slot: OpenedSlot?, on machine: some Machine) {
    var hasChanged = false
    var isProgressing = true
    while isProgressing {
      isProgressing = false
      for (name, object) in closedControl.sorted(by: { $0.key < $1.key }) {
        let keyCount = keys.count
        switch takeControl(object, name: name, slot: slot, on: machine) {
        case .waiting: break
        case .taken:
          closedControl[name] = nil
          remote.noteSeen(name)
          isProgressing = true
          hasChanged = true
        case .refused:
          closedControl[name] = nil
          refuse(name)
        }
        // A key of an envelope may open what comes before the operation that brought it.
        if keys.count > keyCount { isProgressing = true }
      }
    }
    if hasChanged { membershipChanged(on: machine) }
  }

  /// Says once that an object is not what its name says. Its bytes cannot change without their name, so that nobody has
  /// to look at it again.
  mutating func refuse(_ name: ObjectName) {
    if remote.refused.insert(name).inserted { alarms.insert(.tampered(name)) }
  }
}
