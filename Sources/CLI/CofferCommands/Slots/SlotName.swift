// SPDX-License-Identifier: Apache-2.0
//
// Names of slots: that of a new one, and the one that an argument means.

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import Keychains
internal import Texts

struct SlotNameOptions: ParsableArguments {
  static let usage = "[--name NAME]"
  static let page = "--name NAME  your name for the slot, 1 to 40 bytes. It is not secret, and it stays."

  @Option(help: "Your name for the slot.") var name: String?

  /// The name, if a new slot can have it. Asked before any secret is.
  /// - Throws: `KeybagError.invalidLabel`, `.labelTaken`.
  func checked(_ context: CommandContext, default other: String? = nil) throws -> String? {
    guard let name = name ?? other else { return nil }
    guard UUID(uuidString: name) == nil else { throw Failure.usage("a name must not have the form of an id") }
    // What is not shown as it is could look like another name.
    guard TerminalText.line(name) == name else { throw Failure.invalidName }
    try context.locked().checkLabel(name)
    return name
  }
}

/// Which slot is meant (Specs/cli.md, "coffer slot remove").
enum SlotChoice {
  /// The one slot with this id, this name, or an id that begins so.
  /// - Throws: `KeybagError.noSuchSlot`; ``Failure`` with `no_such_slot` or `ambiguous_slot`.
  static func slot(_ word: String, of slots: [KeySlot]) throws -> KeySlot {
    if let id = UUID(uuidString: word) {
      guard let slot = slots.first(where: { $0.id == id }) else { throw KeybagError.noSuchSlot }
      return slot
    }
    let beginning = word.lowercased()
    let isLongEnough = beginning.count >= MessageChoice.leastCount
    // A name that is the beginning of another slot's id names neither: the wrong slot must not go.
    let fitting = slots.filter {
      $0.label == word || isLongEnough && $0.id.uuidString.lowercased().hasPrefix(beginning)
    }
    guard let first = fitting.first else {
      throw Failure(
        .missing, "no_such_slot", "no slot is called '\(word)', and no id begins so",
        hint: "'coffer slot list' shows ids and names")
    }
    guard fitting.count == 1 else {
      let ids = fitting.map { $0.id.uuidString.lowercased() }.joined(separator: ", ")
      throw Failure(
        .usage, "ambiguous_slot", "'\(word)' fits \(fitting.count) slots", hint: "give a whole id: \(ids)")
    }
    return first
  }
}
