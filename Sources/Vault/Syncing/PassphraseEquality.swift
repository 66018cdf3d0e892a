// SPDX-License-Identifier: Apache-2.0
//
// Whether this coffer and its account open with one passphrase. Nothing can be compared without it; so it is noted when it
// is known, with the slots of both: a passphrase that is changed gets a slot of another salt here, and another slot there.
//
//   slot of the account (16) ‖ salts of this coffer's passphrase slots (32 each); none if its passphrase is another one

internal import Histories
internal import Keychains
internal import Primitives
internal import Secrets
internal import Storage

/// What was so when a passphrase opened the account.
struct PassphraseEquality: Equatable {
  let slot: SlotID
  /// Of the passphrase slots that this coffer had, one of which it opened; empty if it opened none.
  let salts: [[UInt8]]

  private static let saltByteCount = 32

  /// A slot of the account opens with a passphrase of the coffer in `file`.
  init(slot: SlotID, _ file: DatabaseFile) throws {
    self.slot = slot
    salts = try Self.salts(file)
  }

  /// A slot of the account opens with a passphrase, which is not this coffer's.
  init(foreign slot: SlotID) {
    self.slot = slot
    salts = []
  }

  /// Of the passphrase slots of a coffer.
  static func salts(_ file: DatabaseFile) throws -> [[UInt8]] {
    try file.read(.slots, Keybag.load).slots.filter { $0.kind == .passphrase }.map(\.salt)
  }

  var bytes: [UInt8] { slot.bytes + salts.flatMap(\.self) }

  init?(_ bytes: RawSpan) {
    let all = [UInt8](copying: bytes)
    guard all.count >= SlotID.byteCount, (all.count - SlotID.byteCount) % Self.saltByteCount == 0,
      let slot = SlotID(all[..<SlotID.byteCount])
    else { return nil }
    self.slot = slot
    salts = stride(from: SlotID.byteCount, to: all.count, by: Self.saltByteCount).map {
      Array(all[$0..<$0 + Self.saltByteCount])
    }
  }
}

extension Synchronizer {
  /// The account opens with another passphrase than this coffer: it was changed on one side, or never was the same. False
  /// where this device does not know.
  public func passphraseDiffers() throws -> Bool {
    let own = try PassphraseEquality.salts(file)
    guard !own.isEmpty, history.slots.contains(where: { $0.kind == .passphrase }) else { return false }
    guard let known = try items.equality() else { return false }
    return !history.slots.contains { $0.id == known.slot } || !own.contains { known.salts.contains($0) }
  }

  /// One passphrase opens this coffer and a slot of the account.
  func noteEqualPassphrase(of slot: SlotID) throws {
    let equality = try PassphraseEquality(slot: slot, file)
    if try items.equality() != equality { try items.save(equality) }
  }

  /// The account's passphrase is not this coffer's.
  func noteOtherPassphrase() throws {
    guard let slot = history.slots.first(where: { $0.kind == .passphrase }) else { return }
    try items.save(PassphraseEquality(foreign: slot.id))
  }
}
