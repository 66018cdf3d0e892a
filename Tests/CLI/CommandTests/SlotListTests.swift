// SPDX-License-Identifier: Apache-2.0
//
// Names of slots on the command line: the rows of the list, and the slot that an argument means.

import Foundation
import Keychains
import Secrets
import Testing

@testable import CofferCommands

@Suite("The list of slots, and which one is meant")
struct SlotListTests {
  /// A passphrase without a name, and two with one.
  private let slots: [KeySlot]

  init() throws {
    slots = try Self.slots(named: ["laptop", "the passphrase of the office, at noon"])
  }

  private static func slots(named names: [String?]) throws -> [KeySlot] {
    let (made, unlocked) = try Keybag.create(credential(0), kdf: .pbkdf2(iterations: 10), now: 1_767_225_600)
    var keybag = made
    for (index, name) in names.enumerated() {
      try keybag.addSlot(
        credential(index + 1), label: name, kdf: .pbkdf2(iterations: 10), keys: unlocked.keys,
        now: 1_767_225_600)
    }
    return keybag.slots
  }

  private static func credential(_ number: Int) throws -> SlotCredential {
    let text = Array("passphrase \(number)".utf8)
    return SlotCredential(try Passphrase(utf8: SecretBytes(copying: text.span.bytes)))
  }

  private func rows(_ columns: Int?, _ slots: [KeySlot]? = nil) -> [String] {
    SlotAnswer.rows((slots ?? self.slots).map(SlotAnswer.init), columns: columns)
  }

  @Test("Rows fit a terminal of any width, and show as much of a name as there is room", arguments: 24...160)
  func widths(columns: Int) {
    let rows = rows(columns)
    #expect(rows.count == 3)
    for (row, slot) in zip(rows, slots) {
      #expect(ColumnWidth.of(row) <= columns, "\(row)")
      #expect(
        row.hasPrefix(slot.id.uuidString.lowercased().prefix(8) + (columns < 120 ? "  passphrase" : "")))
      // Eight of the id, the kind, and two gaps come before the name.
      if let name = slot.label { #expect(row.contains(name.prefix(max(0, columns - 23)))) }
    }
  }

  @Test("At 40 and 80 columns names of usual length are whole, and the day is there at 80")
  func usual() throws {
    let slots = try Self.slots(named: ["laptop", "in the safe", nil])
    let narrow = rows(40, slots)
    #expect(narrow[1].hasSuffix("  passphrase  laptop"))
    #expect(narrow[2].hasSuffix("  passphrase  in the safe"))
    let wide = rows(80, slots)
    #expect(wide[1].contains("  passphrase  laptop       2026-01-01") || wide[1].contains("2025-12-31"))
    #expect(wide.allSatisfy { $0.hasSuffix("  pbkdf2, 10 rounds") })
  }

  @Test("On a pipe everything is whole, and without any name there is no column for them")
  func pipe() throws {
    let rows = rows(nil)
    for (row, slot) in zip(rows, slots) {
      let name = (slot.label ?? "").padding(toLength: 37, withPad: " ", startingAt: 0)
      let id = slot.id.uuidString.lowercased()
      #expect(row == "\(id)  passphrase  \(name)  2026-01-01T00:00:00Z  pbkdf2, 10 rounds")
    }
    let plain = try Self.slots(named: [])
    let id = plain[0].id.uuidString.lowercased()
    #expect(self.rows(nil, plain) == ["\(id)  passphrase  2026-01-01T00:00:00Z  pbkdf2, 10 rounds"])
  }

  @Test("Characters that a terminal must not get are replaced before the row is measured")
  func unsafeName() throws {
    let slots = try Self.slots(named: ["a\u{202E}b\u{200B}c", "日本"])
    let rows = rows(80, slots)
    #expect(rows[1].contains("  a\u{FFFD}b\u{FFFD}c  ") && rows[2].contains("  日本   "))
  }

  @Test("A slot is meant by its id, the beginning of it in any case, or its whole name")
  func meant() throws {
    for slot in slots {
      let id = slot.id.uuidString
      for word in [id, id.lowercased(), String(id.prefix(8)), id.lowercased().prefix(13) + ""] {
        #expect(try SlotChoice.slot(word, of: slots) == slot)
      }
      if let name = slot.label { #expect(try SlotChoice.slot(name, of: slots) == slot) }
    }
  }

  @Test(
    "What is not a name, an id or four characters of one fits no slot",
    arguments: ["", "lap", "Laptop", "laptop ", "xyz-", "f0f"])
  func unknown(word: String) throws {
    let failure = #expect(throws: Failure.self) { try SlotChoice.slot(word, of: slots) }
    #expect(failure?.code == "no_such_slot" && failure?.exit == .missing)
    #expect(throws: KeybagError.noSuchSlot) { try SlotChoice.slot(UUID().uuidString, of: slots) }
  }

  @Test("A name that is the beginning of another slot's id names neither, and the whole id does")
  func ambiguous() throws {
    let first = try Self.slots(named: [])[0]
    let beginning = String(first.id.uuidString.lowercased().prefix(6))
    let named = try Self.slots(named: [beginning])[1]
    let failure = #expect(throws: Failure.self) { try SlotChoice.slot(beginning, of: [first, named]) }
    #expect(failure?.code == "ambiguous_slot" && failure?.exit == .usage)
    #expect(failure?.hint?.contains(first.id.uuidString.lowercased()) == true)
    #expect(try SlotChoice.slot(first.id.uuidString, of: [first, named]) == first)
  }
}
