// SPDX-License-Identifier: Apache-2.0
//
// Batches over a store without transactions, stopped at every call of the store, and the next batch stopped at
// every call again. After each stop there is the state before a batch or the one after it.

import NumberedItemStores
import Foundation
import Keychains
import Testing

@Suite("Batches over a store without transactions, stopped at every call")
struct JournalStopTests {
  struct Course: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What is in the keychain when it begins, batch by batch.
    let before: [[String: [UInt8]?]]
    /// The batch that is stopped.
    let batch: [String: [UInt8]?]
  }

  static let courses = [
    Course(testDescription: "the first batch of all", before: [], batch: ["one": [1], "two": [2]]),
    Course(
      testDescription: "one added, one replaced, one deleted, one left",
      before: [["one": [1], "two": [2]], ["three": [3]]],
      batch: ["two": [22], "three": nil as [UInt8]?, "four": [4]]),
    Course(
      testDescription: "one added and nothing replaced", before: [["one": [1]]], batch: ["two": [2]]),
    Course(
      testDescription: "all deleted", before: [["one": [1], "two": [2]]],
      batch: ["one": nil as [UInt8]?, "two": nil as [UInt8]?]),
  ]

  /// The batch that comes after a stop.
  private static let second: [String: [UInt8]?] = ["one": [11], "two": nil as [UInt8]?, "five": [5]]
  private static let third: [String: [UInt8]?] = ["six": [6]]

  @Test("Each stop leaves a batch as a whole or not at all, and the batch after it too", arguments: courses)
  func twoStops(_ course: Course) throws {
    let base = JournalCoffer()
    for batch in course.before { try base.update(batch) }
    let old = try base.contents()
    let new = Self.contents(old, after: course.batch)
    var seen: Set<Outcome> = []
    try Self.forEachStop(base.store, course.batch) { store, loss, isAcknowledged in
      let found = try JournalCoffer(store).contents()
      try #require(found == new || found == old && !isAcknowledged)
      // A state that another stop has left too is followed once.
      let mayBeLost: Contents? = loss == .nothing && !isAcknowledged ? old : nil
      guard seen.insert(Outcome(store, mayBeLost)).inserted else { return }
      try Self.stopAgain(store, found, mayBeLost)
    }
    #expect(seen.count > 10)
  }

  /// - Parameter lost: the state that a loss of power may bring back until the second batch has synchronised.
  private static func stopAgain(_ base: NumberedItemStore, _ found: Contents, _ lost: Contents?) throws {
    let after = contents(found, after: second)
    var seen: Set<Outcome> = []
    try forEachStop(base, second) { store, _, isAcknowledged in
      let coffer = JournalCoffer(store)
      let state = try coffer.contents()
      try #require(state == after || !isAcknowledged && (state == found || state == lost))
      guard seen.insert(Outcome(store, nil)).inserted else { return }
      // Nothing is in the way of the next batch, and nothing stays behind.
      try coffer.update(third)
      let end = contents(state, after: third)
      try #require(try coffer.contents() == end)
      try #require(store.records.count == end.count + 1)
      store.restart(.everything)
      try #require(try coffer.contents() == end)
    }
  }

  /// Does a batch on copies of `base` that stop at each of its calls in each manner, and restart with each loss.
  private static func forEachStop(
    _ base: NumberedItemStore, _ batch: [String: [UInt8]?],
    _ check: (NumberedItemStore, NumberedItemStore.Loss, _ isAcknowledged: Bool) throws -> Void
  ) throws {
    for call in 1... {
      for manner in NumberedItemStore.Manner.allCases {
        let stopped = base.copy()
        stopped.stop(at: call, manner)
        var isAcknowledged = true
        do { try JournalCoffer(stopped).update(batch) } catch { isAcknowledged = false }
        guard stopped.isStopped else {
          try #require(isAcknowledged && call > 6)
          return
        }
        for loss in NumberedItemStore.Loss.allCases {
          let store = stopped.copy()
          store.restart(loss)
          try check(store, loss, isAcknowledged)
        }
      }
    }
  }

  private static func contents(_ before: Contents, after batch: [String: [UInt8]?]) -> Contents {
    batch.reduce(into: before) { $0[$1.key] = $1.value }
  }

  /// What the next batch can see of a store, now and after a loss of power.
  private struct Outcome: Hashable {
    let visible: Set<[UInt8]>
    let durable: Set<[UInt8]>
    let lost: Contents?

    init(_ store: NumberedItemStore, _ lost: Contents?) {
      visible = Set(store.records.map(\.bytes))
      durable = Set(store.durableRecords.map(\.bytes))
      self.lost = lost
    }
  }

  @Test("A removal that was stopped leaves all, nothing, or damage, and can be repeated")
  func removal() throws {
    let base = JournalCoffer()
    try base.update(["one": [1], "two": [2]])
    var calls = 0
    for call in 1... {
      let store = base.store.copy()
      store.stop(at: call, .before)
      let coffer = JournalCoffer(store)
      do { try coffer.keychain.remove() } catch { calls += 1 }
      let isDone = !store.isStopped
      store.restart(.nothing)
      switch Result(catching: { () throws(KeychainError) in try coffer.contents() }) {
      case .success(let contents): #expect(contents.isEmpty || store.records.count == 3)
      case .failure(let error): #expect(error == .invalidData)
      }
      try coffer.keychain.remove()
      #expect(store.records.isEmpty)
      if isDone { break }
    }
    #expect(calls == 5)
  }
}
