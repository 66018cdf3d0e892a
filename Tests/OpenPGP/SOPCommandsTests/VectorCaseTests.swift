// SPDX-License-Identifier: Apache-2.0
//
// The cases of ../shared/vectors/openpgp: outcomes on which several implementations agree. A rejection counts
// only when the same thing unspoilt is accepted, and when no plaintext came out.

import Foundation
import Repository
import Synchronization
import Testing

struct VectorCaseTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let fields: [String: String]

    var name: String { fields["id"] ?? "" }
    var testDescription: String { name }
  }

  private static let folder: URL? = {
    let package = Repository.root
    let given = ProcessInfo.processInfo.environment["COFFER_VECTORS"].map { URL(filePath: $0) }
    let vectors = given ?? package.deletingLastPathComponent().appending(path: "shared/vectors")
    let folder = vectors.appending(path: "openpgp")
    return FileManager.default.fileExists(atPath: folder.appending(path: "cases.tsv").path()) ? folder : nil
  }()

  /// All but those of post-quantum algorithms, which this engine does not have.
  private static let cases: [Case] = {
    guard let folder, let text = try? String(contentsOf: folder.appending(path: "cases.tsv"), encoding: .utf8)
    else { return [] }
    let rows = text.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    guard let header = rows.first else { return [] }
    return rows.dropFirst().map { row in
      Case(fields: Dictionary(zip(header.map(String.init), row.map(String.init))) { first, _ in first })
    }.filter { !$0.name.hasPrefix("pqc") && !$0.name.hasPrefix("q-") }
  }()

  private static let byName = Dictionary(cases.map { ($0.name, $0) }) { first, _ in first }

  @Test(
    "A case of several implementations ends as they agree",
    .enabled(if: folder != nil, "no vectors: set COFFER_VECTORS, or put them in ../shared/vectors"),
    arguments: cases)
  func agreed(row: Case) throws {
    let outcome = try Self.outcome(of: row)
    switch row.fields["expect"] {
    case "either": #expect(["accept", "reject"].contains(outcome))
    case "reject":
      #expect(outcome == "reject", "\(row.fields["note"] ?? "")")
      if let twin = row.fields["twin"].flatMap({ Self.byName[$0] }) {
        #expect(
          try Self.outcome(of: twin) == "accept", "its twin must be accepted, or its rejection proves nothing"
        )
      }
    default: #expect(outcome == "accept", "\(row.fields["note"] ?? "")")
    }
  }

  @Test(
    "The cases are all there",
    .enabled(if: folder != nil, "no vectors: set COFFER_VECTORS, or put them in ../shared/vectors"))
  func complete() {
    #expect(Self.cases.count >= 400)
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
    let folder = try #require(folder)
    let fixture = try SOPFixture()
    var words = (row.fields["cmd"] ?? "").split(separator: " ").dropFirst().map(String.init)
    var output: String?
    for (index, word) in words.enumerated() where word.contains("$OUT") {
      output = "out"
      words[index] = word.prefix { $0 != "=" } + "=" + fixture.folder.appending(path: "out").path()
    }
    let input = row.fields["stdin"].flatMap { $0 == "-" ? nil : $0 }
    let result = try fixture.run(words, inputFile: input.map { folder.appending(path: $0) }, in: folder)
    guard result.exit == 0 else {
      let leaked = ["decrypt", "inline-verify"].contains(words[0]) && !result.output.isEmpty
      return leaked ? "plaintext leaked" : "reject"
    }
    if let match = row.fields["match"], match == "exact" || match == "text" {
      let expected = [UInt8](try Data(contentsOf: folder.appending(path: row.fields["stdout"] ?? "")))
      let isSame = match == "exact" ? result.output == expected : text(result.output) == text(expected)
      guard isSame else { return "wrong output" }
    }
    if let output, let count = Int(row.fields["verifications"] ?? "") {
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
