// SPDX-License-Identifier: Apache-2.0
//
// The owner's names for slots: kept as they are, apart from each other, and bound to their slots.

import Foundation
import Keychains
import Testing

@testable import Primitives

@Suite("Labels of slots")
struct SlotLabelTests {
  let keybag: Keybag
  let unlocked: Keybag.Unlocked
  let record: [UInt8]

  /// Slot 0 has no label, slot 1 is the passphrase "two", labelled so, slot 2 a phrase.
  init() throws {
    (keybag, unlocked) = try threeSlots(phraseLabel: "blé")
    record = keybag.record()
  }

  /// Where the attachment of a slot begins, with the length of its label.
  private func attachment(_ slot: Int) -> Int { record.slotBounds[slot] + 228 }

  @Test("Labels read back as they were given, each at the beginning of its slot's attachment")
  func roundTrip() throws {
    let again = try read(record)
    #expect(again.slots.map(\.label) == [nil, "two", "blé"])
    #expect(again == keybag && again.record() == record)
    #expect(Array(record.slot(0).suffix(3)) == [0, 1, 0])
    #expect(Array(record.slot(1).suffix(6)) == [0, 4, 3] + Array("two".utf8))
    #expect(Array(record.slot(2).suffix(7)) == [0, 5, 4] + Array("blé".utf8))
    #expect(try again.unlock(passphrase("two")).slot.label == "two")
    #expect(try again.unlock(recoveryPhrase(3)).keys.exposed == unlocked.keys.exposed)
  }

  @Test(
    "A label that cannot be stored is refused, and no slot is added",
    arguments: [
      "", " ", " two", "two ", "a\nb", "a\u{7}b", "\u{85}", String(repeating: "x", count: 41),
      String(repeating: "é", count: 21),
    ])
  func invalid(label: String) throws {
    var keybag = keybag
    #expect(throws: KeybagError.invalidLabel) { try keybag.checkLabel(label) }
    #expect(throws: KeybagError.invalidLabel) {
      try keybag.addSlot(recoveryPhrase(9), label: label, kdf: .seed, keys: unlocked.keys, now: 4)
    }
    #expect(keybag == self.keybag)
  }

  @Test("A label that another slot has, in whatever form of Unicode, is refused, and no slot is added")
  func taken() throws {
    var keybag = keybag
    for label in ["two", "blé", "ble\u{301}"] {
      #expect(throws: KeybagError.labelTaken) { try keybag.checkLabel(label) }
      #expect(throws: KeybagError.labelTaken) {
        try keybag.addSlot(passphrase("four"), label: label, kdf: cheapPBKDF2, keys: unlocked.keys, now: 4)
      }
    }
    #expect(keybag == self.keybag)
    let longest = String(repeating: "x", count: 40)
    try keybag.addSlot(passphrase("four"), label: longest, kdf: cheapPBKDF2, keys: unlocked.keys, now: 4)
    try keybag.addSlot(recoveryPhrase(5), kdf: .seed, keys: unlocked.keys, now: 5)
    #expect(try read(keybag.record()).slots.map(\.label) == [nil, "two", "blé", longest, nil])
  }

  @Test("A slot that takes another's place has its label, and the label of a removed slot is free")
  func replaced() throws {
    var keybag = keybag
    let new = try keybag.replaceSlot(
      keybag.slots[1].id, by: passphrase("new"), kdf: cheapPBKDF2, keys: unlocked.keys, now: 4)
    #expect(new.label == "two")
    #expect(try read(keybag.record()).unlock(passphrase("new")).slot == new)
    #expect(throws: KeybagError.wrongSecret) { try keybag.unlock(passphrase("two")) }
    try keybag.removeSlot(new.id, keys: unlocked.keys)
    try keybag.addSlot(passphrase("two"), label: "two", kdf: cheapPBKDF2, keys: unlocked.keys, now: 5)
    #expect(keybag.slots.map(\.label) == [nil, "blé", "two"])
  }

  @Test("A backup takes the labels along")
  func moved() throws {
    let (moved, leftOut) = try keybag.movedToFile(unlocked.keys)
    #expect(leftOut.isEmpty && moved.slots.map(\.label) == [nil, "two", "blé"])
    #expect(try read(moved.record()).unlock(passphrase("two")).slot.label == "two")
  }

  @Test("Another label, or none, in an otherwise whole record is damage for its slot and for the others")
  func tampered() throws {
    let renamed = try read(record.with(Array("ten".utf8), at: attachment(1) + 1))
    #expect(renamed.slots[1].label == "ten")
    let bare = try read(record.withSlots([record.slot(0), Array(record.slot(1).dropLast(6)) + [0, 1, 0]]))
    #expect(bare.slots.map(\.label) == [nil, nil])
    for changed in [renamed, bare] {
      #expect(throws: KeybagError.corrupt) { try changed.unlock(passphrase("two")) }
      #expect(throws: KeybagError.corrupt) { try changed.unlock(passphrase("one")) }
    }
  }

  @Test("Labels that changed places are damage, although both slots are whole otherwise")
  func exchanged() throws {
    func labelled(_ slot: Int, like other: Int) -> [UInt8] {
      Array(record.slot(slot)[..<226]) + record.slot(other)[226...]
    }
    let changed = try read(
      record.withSlots([record.slot(0), labelled(1, like: 2), labelled(2, like: 1)]))
    #expect(changed.slots.map(\.label) == [nil, "blé", "two"])
    #expect(throws: KeybagError.corrupt) { try changed.unlock(passphrase("two")) }
    #expect(throws: KeybagError.corrupt) { try changed.unlock(recoveryPhrase(3)) }
  }

  @Test("A record with a label twice, with one that cannot be stored, or with bytes after it, is damage")
  func unreadable() throws {
    let slot = Array(record.slot(1).dropLast(6))
    func other(_ bytes: [UInt8]) -> [UInt8] {
      record.withSlots([record.slot(0), slot + [0, UInt8(bytes.count)] + bytes, record.slot(2)])
    }
    #expect(try read(other([3] + Array("ten".utf8))).slots.count == 3)
    for bytes: [UInt8] in [
      [4] + Array("blé".utf8), [5] + Array("ble\u{301}".utf8), [], [3, 0x61], [0, 0x61], [1, 0x61, 0x62],
      [1, 0x20], [2, 0x61, 0x20], [1, 0x07], [1, 0xC3], [2, 0xC3, 0x28],
      [41] + [UInt8](repeating: 0x61, count: 41),
    ] {
      #expect(throws: KeybagError.corrupt, "\(bytes)") { try read(other(bytes)) }
    }
  }
}
