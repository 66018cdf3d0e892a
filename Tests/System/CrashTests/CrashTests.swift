// SPDX-License-Identifier: Apache-2.0
//
// What the built command leaves behind when things go wrong: flipped bytes, kill -9 at any moment, a full
// disk, two writers, large mailboxes. These tests use every core, so they go one after the other.
//
//   COFFER_BINARY                the command to test; else the one built beside these tests
//   COFFER_EXTENT, COFFER_SEED   how much is played, and which share of it (Tests/Support/Extents)
//   COFFER_FLIP_STRIDE           flips every so many bytes of the file on top of the usual places

import Dispatch
import Synchronization
import Testing

@Suite("After crashes and damage", .serialized)
enum CrashTests {
  /// Deals `tasks` out to two workers, each in a place of its own.
  /// - Returns: the answers, in the order of the tasks.
  static func inParallel<Task: Sendable, Answer: Sendable>(
    _ tasks: [Task], _ body: @Sendable (Task, CofferFixture) throws -> Answer
  ) throws -> [Answer] {
    let next = Mutex(0)
    let answers = Mutex([Answer?](repeating: nil, count: tasks.count))
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: 2) { _ in
      do {
        let fixture = try CofferFixture()
        while let index = next.withLock({ next -> Int? in
          defer { next += 1 }
          return next < tasks.count ? next : nil
        }) {
          let answer = try body(tasks[index], fixture)
          answers.withLock { $0[index] = answer }
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    return answers.withLock { $0.compactMap(\.self) }
  }

  /// Prints rows under a heading, columns aligned.
  static func printTable(_ title: String, _ rows: [[String]]) {
    print(title)
    let widths = rows.reduce(into: [Int]()) { widths, row in
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    for row in rows {
      let cells = row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + space : space + cell
      }
      print("  " + cells.joined(separator: "  "))
    }
  }
}
