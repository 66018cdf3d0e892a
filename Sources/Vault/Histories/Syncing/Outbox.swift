// SPDX-License-Identifier: Apache-2.0
//
// Changes of this device that wait for a segment. There may be a million of them after an import, and the user may remove
// what was never sent: so each record knows its own.

internal import Primitives

/// Changes in their order, found by record.
struct Outbox: Sequence, ExpressibleByArrayLiteral, Sendable {
  /// A slice, whose indices stay when a segment takes the first ones. Nil is a change that was taken back.
  private var changes: ArraySlice<LocalChange?> = []
  /// The indices of a record's changes, in rising order.
  private var indices: [RecordID: [Int]] = [:]
  /// How many changes there are.
  private(set) var count = 0
  /// How many of them are about parts that are not the first.
  private(set) var furtherPartCount = 0

  init(_ changes: some Sequence<LocalChange>) { for change in changes { append(change) } }

  init(arrayLiteral elements: LocalChange...) { self.init(elements) }

  var isEmpty: Bool { count == 0 }

  mutating func append(_ change: LocalChange) {
    indices[change.record, default: []].append(changes.endIndex)
    changes.append(change)
    count += 1
    if change.isOfFurtherPart { furtherPartCount += 1 }
  }

  static func += (left: inout Outbox, right: some Sequence<LocalChange>) {
    for change in right { left.append(change) }
  }

  func makeIterator() -> AnyIterator<LocalChange> {
    var left = changes
    return AnyIterator {
      while let next = left.popFirst() {
        if let next { return next }
      }
      return nil
    }
  }

  /// The changes of one record, in their order.
  func changes(of record: RecordID) -> [LocalChange] {
    (indices[record] ?? []).compactMap { changes[$0] }
  }

  /// Takes the first changes out.
  mutating func removeFirst(_ count: Int) {
    var left = count
    while left > 0, let first = changes.popFirst() {
      guard let first else { continue }
      left -= 1
      self.count -= 1
      if first.isOfFurtherPart { furtherPartCount -= 1 }
      indices[first.record]?.removeFirst()
      if indices[first.record]?.isEmpty == true { indices[first.record] = nil }
    }
  }

  /// Takes back the addition of a version that waits here, with its further parts.
  /// - Returns: what it was to replace, and whether none of its parts was taken out; nil if it is not here.
  mutating func takeBack(_ version: Version, of record: RecordID) -> (replaces: [Version], isWhole: Bool)? {
    guard let all = indices[record] else { return nil }
    var found: (replaces: [Version], partCount: Int)?
    for index in all {
      if case .add(let added) = changes[index], added.version == version {
        found = (added.replaces, added.further.count)
        break
      }
    }
    guard let found else { return nil }
    var left: [Int] = []
    var partCount = 0
    for index in all {
      switch changes[index] {
      case .add(let added) where added.version == version: changes[index] = nil
      case .place(_, _, version, _, _):
        changes[index] = nil
        partCount += 1
      default: left.append(index)
      }
    }
    count -= all.count - left.count
    furtherPartCount -= partCount
    indices[record] = left.isEmpty ? nil : left
    // Holes are as many as changes at most.
    if changes.count > 2 * count + 64 { self = Outbox(self) }
    return (found.replaces, partCount == found.partCount)
  }
}
