// SPDX-License-Identifier: Apache-2.0
//
// A slot as commands answer it: in JSON, and as a row of a list.

internal import Foundation
internal import Keychains
internal import Primitives
internal import Texts

/// A slot in JSON.
struct SlotAnswer: Encodable {
  let id: String
  let kind: String
  /// The owner's name for it; absent without one.
  let name: String?
  /// Only the name; the costs have their own members.
  let kdf: String
  let iterations: Int?
  let memoryKiB: Int?
  let passes: Int?
  let lanes: Int?
  let created: String
  private let seconds: Int64
  /// What opens it, for users.
  private let words: String

  private enum CodingKeys: CodingKey {
    case id, kind, name, kdf, iterations, memoryKiB, passes, lanes, created
  }

  init(_ slot: KeySlot) {
    id = slot.id.uuidString.lowercased()
    kind = slot.method.name
    name = slot.label
    seconds = slot.created
    created = RFC3339.format(slot.created)
    var costs: (Int?, Int?, Int?) = (nil, nil, nil)
    var rounds: Int?
    switch slot.kdf {
    case .pbkdf2(let iterations):
      kdf = "pbkdf2"
      rounds = Int(iterations)
    case .argon2id(let found):
      kdf = "argon2id"
      costs = (Int(found.memoryKiB), Int(found.passes), Int(found.lanes))
    case .expansion(let expansion): kdf = expansion.name
    }
    words = SlotInterfaces.interface(of: slot)?.words(slot) ?? kind
    iterations = rounds
    (memoryKiB, passes, lanes) = costs
  }
}

// MARK: Rows

extension SlotAnswer {
  /// The beginning of an id that a narrow row has. `SlotChoice` takes it.
  static let shownIDCount = 8

  /// How much of a slot is in its row.
  private struct Form {
    var idCount = SlotAnswer.shownIDCount
    var time: (@Sendable (Int64) -> String)? = { LocalTime.day($0) }
    var hasStretching = true

    /// For a pipe.
    static let whole = Form(idCount: 36, time: { RFC3339.format($0) })
    /// For a terminal, the widest first. Kind and name say most, so what is beside them gives way.
    static let all = [
      Form(idCount: 36, time: { LocalTime.minuteAndZone($0) }),
      Form(time: { LocalTime.minuteAndZone($0) }), Form(time: { LocalTime.minute($0) }), Form(),
      Form(time: { LocalTime.minute($0) }, hasStretching: false), Form(hasStretching: false),
      Form(time: nil, hasStretching: false),
    ]
  }

  /// For users: id, kind, name, time and key derivation of each. Without any name there is no column for them.
  /// - Parameter columns: those of a terminal, in which each row fits; nil on a pipe, where all is whole.
  static func rows(_ slots: [SlotAnswer], columns: Int?) -> [String] {
    guard let columns else { return rows(slots, .whole) }
    var found: [String] = []
    for form in Form.all {
      found = rows(slots, form)
      if found.allSatisfy({ ColumnWidth.of($0) <= columns }) { return found }
    }
    return found.map { ColumnWidth.cut($0, to: max(1, columns)) }
  }

  private static func rows(_ slots: [SlotAnswer], _ form: Form) -> [String] {
    let kindWidth = max(10, slots.map(\.kind.count).max() ?? 0)
    // Made safe for a terminal before they are measured, because that changes their width.
    let names = slots.map { TerminalText.line($0.name ?? "") }
    let nameWidth = names.map(ColumnWidth.of).max() ?? 0
    return zip(slots, names).map { slot, name in
      var cells = [String(slot.id.prefix(form.idCount)), slot.kind.padded(to: kindWidth)]
      if nameWidth > 0 { cells.append(ColumnWidth.padded(name, to: nameWidth)) }
      if let time = form.time { cells.append(time(slot.seconds)) }
      if form.hasStretching { cells.append(slot.stretching) }
      return cells.joined(separator: "  ").trimmingTrailingBlanks()
    }
  }

  private var stretching: String {
    if let iterations { return "pbkdf2, \(iterations) rounds" }
    if let memoryKiB, let passes {
      return "argon2id, \(memoryKiB >> 10) MiB, \(passes.counted("pass", "passes"))"
    }
    return words
  }
}
