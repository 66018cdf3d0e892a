// SPDX-License-Identifier: Apache-2.0
//
// The table of crashes: every operation stopped at every call that changes the disk, and its recovery stopped
// again, on both kinds of keychain; and the same operations with calls that fail. `crash-table` does it, in
// processes of its own, since it takes the calls of the C library over. In the extent `full` it takes a third of what
// scripts/crash-table takes, else a share of that, which has something of every operation.

import Extents
import Foundation
import Testing

extension CrashTests {
  @Suite("The table of crashes", .serialized)
  struct CrashTableTests {
    static let leastPoints = 5_000
    static let leastDoublePoints = 5_000
    static let shares = Shares("crash table", count: 8)

    /// Each share that this run plays; made once for all tests.
    private static let tables = Result {
      let (indices, count) = shares.played
      return try indices.map { try CrashTableRun(["--short", "--share", "\($0 + 1)/\(count)"]) }
    }

    @Test("No crash and no failing call loses anything, or leaves half of a change")
    func table() throws {
      let tables = try Self.tables.get()
      var points = 0
      for run in tables {
        print(run.output)
        #expect(run.status == 0, "\(Self.shares.again)")
        #expect(Set(run.rows.map(\.store)) == ["file", "journal"])
        for row in run.rows {
          #expect(row["losses"] == 0 && row["mixed"] == 0, "\(row.operation), \(Self.shares.again)")
          #expect(row["points"] > 0 && row["failed writes"] > 0, "\(row.operation)")
          #expect(row["before"] > 0 && row["after"] > 0, "\(row.operation)")
        }
        points += run.sum("points")
        let count = Self.shares.played.of
        #expect(run.sum("points") >= Self.leastPoints / count)
        #expect(run.sum("double points") >= Self.leastDoublePoints / count)
      }
      Self.shares.note(played: points, of: points * Self.shares.played.of / tables.count)
    }

    @Test(
      "The operations that must be in the table are, and each was acknowledged after changes of the disk",
      arguments: [
        "identity generate", "identity import", "identity expire", "identity replace", "identity delete",
        "key wrap",
        "key delete", "mode switch, 1 key", "mode switch, 2 keys", "mode switch, 3 keys",
        "mode switch, 4 keys", "mode switch, 5 keys", "change of expiry", "key import", "finger switched on",
        "guard made", "guard changed", "guard left",
        "security key added to the guard", "security key removed from the guard", "vault key rotation",
        "passphrase change", "slot add", "security key slot", "slot remove", "domain delete and create",
        "protected settings write", "contact import",
        "capture add", "backup", "restore", "account make", "account join", "sync, sending", "sync, getting",
        "device revoke", "device approve", "device rejoin", "account passphrase", "remote destroy",
        "remote sweep", "capture keep", "capture release",
      ])
    func operations(name: String) throws {
      for run in try Self.tables.get() {
        let rows = run.rows.filter { $0.store == "file" && $0.operation == name }
        #expect(rows.count == 1)
        // Nothing has a row that changes nothing, or is never acknowledged.
        #expect(rows.allSatisfy { $0["calls"] > 0 })
      }
    }

    @Test("The shares of a table are the whole table, whoever plays it, and nothing else")
    func union() throws {
      let words = ["--only", "file, keychain batch, 2 items", "--full", "--places"]
      let whole = try CrashTableRun(words).places
      // From the first call on, all calls fail and every first one does: two places have the same words.
      #expect(whole.count > 150 && Set(whole).count == whole.count - 2)
      let shares = try (1...4).map { try CrashTableRun(words + ["--share", "\($0)/4", "--jobs", "3"]) }
      #expect(shares.allSatisfy { $0.status == 0 })
      #expect(Set(shares.flatMap(\.places)) == Set(whole))
      for share in shares { #expect(Set(share.places).count == share.places.count) }
      // What is in all of them is the first state and the last, and crashes of the recoveries from these two.
      let common = shares.reduce(Set(whole)) { $0.intersection($1.places) }
      #expect(Set(common.map { $0.components(separatedBy: "; recovery")[0] }).count == 2, "\(common)")
      #expect(shares.reduce(0) { $0 + $1.places.count } == whole.count + 3 * common.count)
      #expect(shares.allSatisfy { $0.places.count < whole.count / 2 })
    }

    @Test("The calls of SQLite are seen, those of sealed files, and those of a store of records")
    func calls() throws {
      let capture = try CrashTableRun(["--calls", "file, capture add"]).output
      #expect(capture.contains("<- acknowledged"))
      for call in [
        "create home/coffer.db-wal", "write home/coffer.db-wal at 32,", "sync home/coffer.db-wal",
        "write home/coffer.db at", "sync home/coffer.db\n", "remove home/coffer.db-wal",
        "create home/blobs/", "write home/blobs/", "sync home/blobs/", "sync folder home/blobs",
      ] { #expect(capture.contains(call), "\(call)") }
      let batch = try CrashTableRun(["--calls", "journal, keychain batch, 5 items"]).output
      for call in ["add record", "remove record", "sync records"] {
        #expect(batch.contains(call), "\(call)")
      }
    }

    @Test("Stores with known mistakes are found")
    func guilty() throws {
      let run = try CrashTableRun(["--guilty"])
      #expect(run.status == 1)
      let rows = run.rows
      #expect(rows.count >= 3)
      for row in rows where row.operation.contains("steps") { #expect(row["mixed"] > 0) }
      for row in rows where row.operation.contains("synchronised") { #expect(row["losses"] > 0) }
      for row in rows { #expect(row["losses"] + row["mixed"] > 0, "\(row.operation)") }
    }

    @Test("A word that names no operation makes no table")
    func nothing() throws {
      let run = try CrashTableRun(["--only", "no such operation"])
      #expect(run.status == 1 && run.rows.isEmpty)
      #expect(try CrashTableRun(["--nonsense"]).status == 2)
    }
  }
}

/// One run of `crash-table`, at its end.
private struct CrashTableRun {
  let status: Int32
  let output: String

  init(_ arguments: [String]) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "crash-table-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "crash-table")
    process.arguments = arguments
    process.standardOutput = try FileHandle(forWritingTo: file)
    // Coverage of it is not wanted, and profiles of all its processes would be in each other's way. The order of sets is
    // the same in each process, so that the calls of an operation are, which have numbers.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["LLVM_PROFILE_FILE": "/dev/null", "SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }

  /// A line of the table.
  struct Row {
    let store: String
    let operation: String
    let numbers: [String: Int]

    subscript(column: String) -> Int { numbers[column] ?? -1 }
  }

  /// The lines between the heads and the total.
  var rows: [Row] {
    let lines = output.split(separator: "\n").map { line in
      line.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty }
    }
    guard let heads = lines.first, heads.starts(with: ["store", "operation"]) else { return [] }
    return lines.dropFirst().prefix { $0.count == heads.count }.map { cells in
      let numbers = zip(heads, cells).dropFirst(2).map { ($0, Int($1) ?? -1) }
      return Row(
        store: cells[0], operation: cells[1], numbers: Dictionary(uniqueKeysWithValues: numbers))
    }
  }

  /// What was played, where that was asked for.
  var places: [String] {
    output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("PLAYED") }
  }

  func sum(_ column: String) -> Int { rows.reduce(0) { $0 + $1[column] } }
}
