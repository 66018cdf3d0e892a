// SPDX-License-Identifier: Apache-2.0
//
// Records that are not what was written: by accident (the digest shows it), and by an attacker who makes
// the digest fit (a key-check value, an authenticated slot or the MAC over all slots shows it).

import Extents
import Foundation
import Keychains
import Testing

@testable import Primitives

@Suite("Changed keybags")
struct KeybagTamperingTests {
  let keybag: Keybag
  let unlocked: Keybag.Unlocked
  let record: [UInt8]

  /// Slot 0 is the passphrase «one», slot 1 the passphrase «two», slot 2 a recovery phrase. The last two have labels.
  init() throws {
    (keybag, unlocked) = try threeSlots(phraseLabel: "words")
    record = keybag.record()
  }

  @Test("A change of any byte is damage", arguments: [0x01, 0x80, 0xFF] as [UInt8])
  func everyByte(mask: UInt8) {
    for offset in record.indices {
      var changed = record
      changed[offset] ^= mask
      #expect(throws: KeybagError.corrupt, "byte \(offset)") { try read(changed) }
    }
  }

  @Test("A record that ends early or late is damage, its digest fitting or not")
  func lengths() {
    for count in record.indices {
      #expect(throws: KeybagError.corrupt, "\(count) bytes") { try read(Array(record.prefix(count))) }
      let body = Array(record.prefix(count))
      #expect(throws: KeybagError.corrupt, "\(count) bytes and a digest") {
        // A whole record but for its digest is the one prefix that a digest completes.
        guard count != record.count - 32 else { throw KeybagError.corrupt }
        return try read(body + SHA256.hash(body.span.bytes))
      }
    }
    #expect(throws: KeybagError.corrupt) { try read(record + [0]) }
    #expect(throws: KeybagError.corrupt) {
      try read(withDigest(record.dropLast(32) + [0] + record.suffix(32)))
    }
  }

  @Test("With a digest that fits, no changed byte lets any slot open")
  func everyByteWithDigest() throws {
    let bounds = record.slotBounds
    for offset in Shares("keybag, changed bytes", count: 8).of(0..<record.count - 32) {
      let changed = record.with([record[offset] ^ 0x01], at: offset)
      guard let damaged = try? read(changed) else { continue }
      #expect(damaged.record() == changed)
      for credential in 0..<3 {
        do {
          _ = try unlock(damaged, credential)
          Issue.record("byte \(offset) was changed and slot \(credential) opened")
        } catch let error as KeybagError {
          // A changed slot knows its secret no more, or opens and is found out; so are all others.
          let isOwn = (bounds[credential]..<bounds[credential + 1]).contains(offset)
          #expect(error == .corrupt || isOwn && error == .wrongSecret, "byte \(offset): \(error)")
        }
      }
    }
  }

  private func unlock(_ keybag: Keybag, _ credential: Int) throws -> Keybag.Unlocked {
    switch credential {
    case 0: try keybag.unlock(passphrase("one"))
    case 1: try keybag.unlock(passphrase("two"))
    default: try keybag.unlock(recoveryPhrase(3))
    }
  }

  @Test(
    "What each field of a slot does when it is changed",
    arguments: [
      (0, 1, KeybagError.corrupt),  // id: bound to the wrapped keys
      (18 + 3, 1, .wrongSecret),  // iterations: another secret
      (30 + 7, 1, .corrupt),  // created
      (38, 1, .wrongSecret),  // salt: another secret
      (70, 1, .wrongSecret),  // key check
      (102, 1, .corrupt),  // nonce
      (114, 1, .corrupt),  // wrapped keys
      (114 + 64, 1, .corrupt),  // wrapped keys: the owner key
      (225, 1, .corrupt),  // tag
    ] as [(Int, UInt8, KeybagError)])
  func fields(offset: Int, mask: UInt8, error: KeybagError) throws {
    let changed = record.with([record[30 + offset] ^ mask], at: 30 + offset)
    let damaged = try read(changed)
    #expect(throws: error) { try damaged.unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try damaged.unlock(passphrase("two")) }
  }

  @Test("A slot that was taken out opens no more, and the others say so")
  func removed() throws {
    let fewer = try read(record.withSlots([record.slot(1), record.slot(2)]))
    #expect(throws: KeybagError.wrongSecret) { try fewer.unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try fewer.unlock(passphrase("two")) }
    let phraseless = try read(record.withSlots([record.slot(0), record.slot(1)]))
    #expect(throws: KeybagError.noSuchSlot) { try phraseless.unlock(recoveryPhrase(3)) }
    #expect(throws: KeybagError.corrupt) { try phraseless.unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try read(record.withSlots([])) }
  }

  @Test("Slots that change places or are doubled are noticed by each of them")
  func moved() throws {
    for slots in [[1, 0, 2], [0, 1, 2, 0], [0, 0, 1, 2]] {
      let changed = try read(record.withSlots(slots.map(record.slot)))
      for credential in 0..<3 {
        #expect(throws: KeybagError.corrupt) { try unlock(changed, credential) }
      }
    }
    #expect(throws: KeybagError.corrupt) {
      try read(record.withSlots((0..<17).map { _ in record.slot(0) }))
    }
    // A label that is there twice shows at once.
    #expect(throws: KeybagError.corrupt) { try read(record.withSlots([0, 1, 2, 2].map(record.slot))) }
  }

  @Test("A slot of another coffer, added or put in a slot's place, opens nothing here")
  func foreignSlot() throws {
    let (other, theirs) = try Keybag.create(passphrase("mine"), kdf: cheapPBKDF2, now: 1)
    let foreign = other.record().slot(0)
    let added = try read(record.withSlots([record.slot(0), record.slot(1), record.slot(2), foreign]))
    #expect(throws: KeybagError.corrupt) { try added.unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try added.unlock(passphrase("mine")) }
    let replaced = try read(record.withSlots([foreign, record.slot(1), record.slot(2)]))
    #expect(throws: KeybagError.wrongSecret) { try replaced.unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try replaced.unlock(passphrase("two")) }
    #expect(throws: KeybagError.corrupt) { try replaced.unlock(passphrase("mine")) }
    #expect(theirs.keys.exposed != unlocked.keys.exposed)
  }

  @Test("A generation that was changed is noticed by every slot")
  func generation() throws {
    var number: [UInt8] = []
    number.append(bigEndian: UInt32(2))
    for bytes in [number, [0xFF, 0xFF, 0xFF, 0xFF]] {
      let changed = try read(record.with(bytes, at: 25))
      for credential in 0..<3 {
        #expect(throws: KeybagError.corrupt) { try unlock(changed, credential) }
      }
    }
  }

  @Test("A passphrase slot that is made out to be a phrase's leaves no slot for the passphrase")
  func kind() throws {
    let (single, _) = try Keybag.create(passphrase("one"), kdf: cheapPBKDF2, now: 1)
    let changed = single.record().with([2, 3] + [UInt8](repeating: 0, count: 12), at: 30 + 16)
    #expect(throws: KeybagError.noSuchSlot) { try read(changed).unlock(passphrase("one")) }
    #expect(throws: KeybagError.corrupt) { try read(single.record().with([3], at: 30 + 16)) }
  }

  @Test("A slot given up and put back behind our back is not signed with the next change")
  func resurrected() throws {
    var current = keybag
    try current.removeSlot(keybag.slots[0].id, keys: unlocked.keys)
    let now = current.record()
    var revived = try read(now.withSlots([now.slot(0), now.slot(1), record.slot(0)]))
    #expect(throws: KeybagError.corrupt) {
      try revived.addSlot(recoveryPhrase(9), kdf: .seed, keys: unlocked.keys, now: 9)
    }
    let id = revived.slots[0].id
    #expect(throws: KeybagError.corrupt) { try revived.removeSlot(id, keys: unlocked.keys) }
    #expect(throws: KeybagError.corrupt) {
      try revived.replaceSlot(id, by: recoveryPhrase(9), kdf: .seed, keys: unlocked.keys, now: 9)
    }
    #expect(throws: KeybagError.corrupt) { try revived.unlock(passphrase("one")) }
  }

  @Test("An old copy of the whole record keeps opening with the passphrase it had")
  func oldCopy() throws {
    var current = keybag
    try current.replaceSlot(
      keybag.slots[0].id, by: passphrase("new"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 9)
    #expect(throws: KeybagError.wrongSecret) { try current.unlock(passphrase("one")) }
    // Not a promise but its absence (Specs/keybag.md, "Security").
    #expect(try read(record).unlock(passphrase("one")).keys.exposed == unlocked.keys.exposed)
  }
}
