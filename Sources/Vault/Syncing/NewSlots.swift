// SPDX-License-Identifier: Apache-2.0
//
// The two slots that an account has from the start: one for the passphrase and one for the words. They are derived before
// the account is made, since that can fail and takes long.

internal import Histories
internal import Keychains
internal import Primitives
internal import Secrets

/// The secrets of two new slots.
struct NewSlots {
  private let passphrase: (secret: SharedSecretBytes, salt: [UInt8])
  private let words: (secret: SharedSecretBytes, salt: [UInt8])
  private let costs: Argon2idParameters

  init(
    _ passphrase: borrowing Passphrase, _ words: borrowing RecoveryPhrase, urlSecret: SharedSecretBytes,
    costs: Argon2idParameters, machine: DeviceMachine
  ) throws {
    let salts = (0..<2).map { _ in machine.random(AccountSlotSecret.saltByteCount) }
    self.passphrase = (
      try passphrase.withBytes { bytes throws(Argon2idError) in
        try AccountSlotSecret.passphrase(bytes, urlSecret: urlSecret, salt: salts[0], costs: costs)
      }, salts[0]
    )
    self.words = (AccountSlotSecret.words(seed: words.seed(), salt: salts[1]), salts[1])
    self.costs = costs
  }

  /// Seals the slots of an account.
  /// - Parameter records: gets them.
  func make(
    owner: KeyPair, account: AccountID, anchor: ControlID, at now: UInt64, machine: inout DeviceMachine,
    _ records: inout [AccountSlotRecord]
  ) -> [(entry: SlotEntry, object: [UInt8])] {
    let kinds: [(AccountSlotDerivation, secret: SharedSecretBytes, salt: [UInt8])] = [
      (.passphrase(costs), passphrase.secret, passphrase.salt), (.words, words.secret, words.salt),
    ]
    return kinds.map { derivation, secret, salt in
      let agreement = machine.makeKeyPair()
      let record = AccountSlotRecord.seal(
        AccountSlotContents(agreement: agreement, owner: owner, anchor: anchor),
        id: SlotID(beginningOf: machine.random(SlotID.byteCount)), derivation: derivation, createdAt: now,
        salt: salt, secret: secret, account: account, machine: &machine)
      records.append(record)
      let object = record.bytes()
      return (
        SlotEntry(
          id: record.id, kind: record.kind, agreementKey: agreement.publicKey,
          object: ObjectHash(hashing: object)), object
      )
    }
  }

  func secret(of record: AccountSlotRecord) -> SharedSecretBytes {
    record.kind == .passphrase ? passphrase.secret : words.secret
  }
}
