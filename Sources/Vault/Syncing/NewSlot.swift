// SPDX-License-Identifier: Apache-2.0
//
// A slot that an account is to get. Its secret is derived before anything is changed, since that can fail and takes long;
// its object is written and read back before anything relies on it.

internal import Histories
internal import Primitives
internal import Remotes
internal import Secrets

/// The secret of a new slot.
struct NewSlot {
  let derivation: AccountSlotDerivation
  let secret: SharedSecretBytes
  private let salt: [UInt8]

  /// - Parameter costs: of a passphrase.
  init(
    _ given: AccountSecret, urlSecret: SharedSecretBytes, costs: Argon2idParameters, machine: DeviceMachine
  ) throws {
    salt = machine.random(AccountSlotSecret.saltByteCount)
    switch given {
    case .passphrase(let passphrase, _):
      derivation = .passphrase(costs)
      secret = try passphrase.withBytes { [salt] bytes throws(Argon2idError) in
        try AccountSlotSecret.passphrase(bytes, urlSecret: urlSecret, salt: salt, costs: costs)
      }
    case .seed(let seed):
      derivation = .words
      secret = AccountSlotSecret.words(seed: seed.withBytes { SecretBytes(copying: $0) }, salt: salt)
    }
  }

  /// Seals the slot.
  /// - Parameters:
  ///   - owner: the owner key that its maker has. A later one comes in an envelope.
  ///   - anchor: the last control operation that is known.
  func make(
    owner: KeyPair, account: AccountID, anchor: ControlID, at now: UInt64, machine: inout DeviceMachine
  ) -> (record: AccountSlotRecord, entry: SlotEntry) {
    let agreement = machine.makeKeyPair()
    let record = AccountSlotRecord.seal(
      AccountSlotContents(agreement: agreement, owner: owner, anchor: anchor),
      id: SlotID(beginningOf: machine.random(SlotID.byteCount)), derivation: derivation, createdAt: now,
      salt: salt, secret: secret, account: account, machine: &machine)
    let entry = SlotEntry(
      id: record.id, kind: record.kind, agreementKey: agreement.publicKey,
      object: ObjectHash(hashing: record.bytes()))
    return (record, entry)
  }

  /// The name of a slot's object at the place.
  static func name(of record: AccountSlotRecord, in account: AccountID) -> String {
    Hexadecimal.text(account.bytes) + "/" + ObjectName.slot(ObjectHash(hashing: record.bytes())).path
  }

  /// Puts the slot's object to the place, gets it back and opens it.
  /// - Throws: `SyncError.slotNotReadBack`, `.remote`.
  func writeAndReadBack(_ record: AccountSlotRecord, _ account: AccountID, _ remote: any Remote) throws {
    let (bytes, name) = (record.bytes(), Self.name(of: record, in: account))
    let back: [UInt8]?
    do throws(RemoteError) {
      try remote.put(name, bytes)
      back = try remote.get(name)
    } catch { throw SyncError.remote(error) }
    guard let back, let read = try? AccountSlotRecord.parse(back), read == record,
      (try? read.open(secret: secret, account: account)) != nil
    else { throw SyncError.slotNotReadBack }
  }
}
