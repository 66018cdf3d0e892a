// SPDX-License-Identifier: Apache-2.0
//
// Requests that are stopped at every call that changes the disk, and calls that fail. `crash-remotes` does it, in a
// process of its own, since it takes the calls of the C library over.

import Extents
import Foundation
import Testing

@Suite("A folder after a crash")
struct FolderCrashTests {
  @Test(
    "A crash at any call leaves the old object or the new one, whole, and the next run makes the request again"
  )
  func everyCall() throws {
    let shares = Shares("folder crashes", count: 4)
    let (indices, count) = shares.played
    for index in indices {
      let (status, rows) = try run(["--share", "\(index + 1)/\(count)"])
      #expect(status == 0, "\(rows)")
      #expect(
        rows.map(\.operation) == [
          "put, in new folders", "put, over another object", "put, over the same object", "put, made again",
          "put, over a stranger's file", "put, over a stranger's new file",
          "put, where folders were replaced",
          "delete", "delete, made again",
        ])
      for row in rows {
        #expect(row.losses == 0 && row.mixed == 0, "\(row)")
        #expect(row.points > 0 && row.failedCalls > 0 && row.after > 0, "\(row)")
        #expect(row.before > 0 || row.operation == "put, over the same object", "\(row)")
      }
      let points = rows.reduce(0) { $0 + $1.points }
      shares.note(played: points, of: points * count)
    }
  }

  @Test("A folder whose name is not flushed is found")
  func guilty() throws {
    let (status, rows) = try run(["--guilty"])
    #expect(status == 1)
    #expect(rows.count == 1 && rows.allSatisfy { $0.losses > 0 }, "\(rows)")
  }

  /// What was counted of one request.
  private struct Row {
    let operation: String
    let points, failedCalls, before, after, losses, mixed: Int

    /// - Parameter line: tab-separated; nil for what is not a row.
    init?(_ line: Substring) {
      let fields = line.split(separator: "\t")
      let numbers = fields.dropFirst(2).compactMap { Int($0) }
      guard fields.count == 11, numbers.count == 9 else { return nil }
      operation = String(fields[1])
      (points, failedCalls, before, after) = (numbers[1], numbers[4], numbers[5], numbers[6])
      (losses, mixed) = (numbers[7], numbers[8])
    }
  }

  private func run(_ arguments: [String]) throws -> (status: Int32, rows: [Row]) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "crash-remotes")
    process.arguments = arguments
    process.standardOutput = output
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["LLVM_PROFILE_FILE": "/dev/null"]) { $1 }
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    print(text)
    return (process.terminationStatus, text.split(separator: "\n").compactMap { Row($0) })
  }
}
