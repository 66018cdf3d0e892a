// SPDX-License-Identifier: Apache-2.0
//
// The cases of Tests/Vectors/openpgp: outcomes on which several implementations agree. A rejection counts only
// when the same input unspoilt is accepted, and when no plaintext came out. `scripts/run-cases` does the same by
// hand, with any command.

import Extents
import Foundation
import Synchronization
import TestVectors
import Testing

struct VectorCaseTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let row: VectorRow

    subscript(column: String) -> String { (try? row.text(column)) ?? "" }
    var name: String { self["id"] }
    var testDescription: String { name }
  }

  private static let folder = VectorFiles.folder.appending(path: "openpgp")

  private static func cases() throws -> [Case] { try VectorTable("openpgp/cases").rows.map { Case(row: $0) } }

  private static let byName = Result {
    Dictionary(uniqueKeysWithValues: try cases().map { ($0.name, $0) })
  }

  @Test(
    "A case of several implementations ends as they agree",
    arguments: Shares("cases of several implementations", count: 8).of(try cases()))
  func agreed(row: Case) throws {
    let outcome = try Self.outcome(of: row)
    let about = Comment(rawValue: row["about"].isEmpty ? row["command"] : row["about"])
    switch row["expect"] {
    case "either": #expect(["accept", "reject"].contains(outcome), about)
    case "accept": #expect(outcome == "accept", about)
    case "reject":
      #expect(outcome == "reject", about)
      guard !row["twin"].isEmpty else { break }
      let twin = try #require(try Self.byName.get()[row["twin"]])
      #expect(
        try Self.outcome(of: twin) == "accept", "its twin must be accepted, or its rejection proves nothing")
    default: Issue.record("there is no outcome \(row["expect"])")
    }
  }

  @Test("The cases are all there")
  func complete() throws {
    let cases = try Self.cases()
    let judged = cases.count { $0["expect"] != "either" }
    #expect(cases.count == 555 && judged == 526)
  }

  /// Twins are twins of many.
  private static let outcomes = Mutex<[String: String]>([:])

  /// `accept`, `reject`, or what is wrong with either.
  private static func outcome(of row: Case) throws -> String {
    if let known = outcomes.withLock({ $0[row.name] }) { return known }
    let outcome = try run(row)
    outcomes.withLock { $0[row.name] = outcome }
    return outcome
  }

  private static func run(_ row: Case) throws -> String {
    let fixture = try SOPFixture()
    var words = row["command"].split(separator: " ").map(String.init)
    var output: String?
    for (index, word) in words.enumerated() where word.contains("$OUT") {
      output = "out"
      words[index] = word.prefix { $0 != "=" } + "=" + fixture.folder.appending(path: "out").path()
    }
    let input = row["stdin"].isEmpty ? nil : folder.appending(path: row["stdin"])
    let result = try fixture.run(words, inputFile: input, in: folder)
    guard result.exit == 0 else {
      let leaked = ["decrypt", "inline-verify"].contains(words[0]) && !result.output.isEmpty
      return leaked ? "plaintext leaked" : "reject"
    }
    if !row["match"].isEmpty {
      let expected = [UInt8](try Data(contentsOf: folder.appending(path: row["stdout"])))
      let isExact = row["match"] == "exact"
      let isSame = isExact ? result.output == expected : text(result.output) == text(expected)
      guard isSame else { return "wrong output" }
    }
    if let output, let count = Int(row["verifications"]) {
      guard try fixture.contents(output).split(separator: 0x0A).count == count else {
        return "wrong verifications"
      }
    }
    return "accept"
  }

  /// Without what the cleartext framework loses: blanks at line ends, line ends, the last line end.
  private static func text(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      Array(line.reversed().drop { [0x0D, 0x20, 0x09].contains($0) }.reversed())
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
}
