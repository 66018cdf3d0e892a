// SPDX-License-Identifier: Apache-2.0
//
// The table of red lines in Tests/RED-LINES.md. The list of files and the checker are `scripts/check-red-lines`;
// here it is run on the package itself, and on copies of the page with a mistake, so that a checker which
// finds nothing cannot pass.

import Extents
import Foundation
import Repository
import Testing

@Suite("The red lines")
struct RedLineTests {
  private static let page = "Tests/RED-LINES.md"

  @Test("Every red-line file is in the table, and every test that it names exists")
  func thisPackage() throws {
    let outcome = try check(Repository.root)
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasPrefix("ok"))
  }

  @Test(
    "A mistake in the table is named",
    arguments: Shares("mistakes in the red lines", count: 3).of([
      (
        "`Vaults: VaultState`", "`Vaults: MessageBox`",
        "VaultState.swift: this red-line file is in no row"
      ),
      ("`Vaults: VaultState`", "`Vaults: VaultState, Cellar`", "\"Vaults: Cellar\" is not a file"),
      ("`ErasureTests.again`", "`ErasureTests.never`", "there is no test \"ErasureTests.never\""),
      ("`ErasureTests.again`", "`ErasureTests`", "\"ErasureTests\" is not the name of a test"),
      (
        "`VaultsTests.MemoryTests.nothingLeft`", "`MemoryTests.nothingLeft`",
        "is in PicturesTests SearchIndexTests VaultsTests; write the module"
      ),
      ("`ErasureTests.again`", "", "nothing under \"fails cleanly\""),
      ("`ErasureTests.again`", "—", "nothing under \"fails cleanly\""),
      ("`ErasureTests.again` |", "", "a row has the files and 4 cells"),
      ("| `", "| ", "there is no table"),
    ]))
  func mistakes(text: String, mistake: String, complaint: String) throws {
    let outcome = try check(changing: text, to: mistake)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
  }

  @Test("Where every test ran, or has a star and was skipped, nothing is said")
  func allRan() throws {
    let outcome = try check(Repository.root, results: results { $0.hasSuffix("*") ? "<skipped />" : "" })
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasSuffix("which all ran\n"))
  }

  @Test(
    "A test that failed, was skipped or is missing is named",
    arguments: [
      ("<failure message=\"no\" />", "failed"), ("<skipped />", "was skipped"), (nil, "did not run"),
    ])
  func notRun(ending: String?, complaint: String) throws {
    let outcome = try check(
      Repository.root, results: results { $0.contains("ErasureTests.again") ? ending : "" })
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(": \"ErasureTests.again\" \(complaint)"), "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  /// Results of all tests that the table names, in every module of tests.
  /// - Parameter ending: what an element holds, by the name in the table; nil leaves the test out.
  private func results(_ ending: (String) -> String?) throws -> String {
    let modules = try FileManager.default.subpathsOfDirectory(
      atPath: Repository.root.appending(path: "Tests").path
    )
    .filter { $0.split(separator: "/").count == 2 && $0.hasSuffix("Tests") }
    .map { String($0.split(separator: "/")[1]) }
    let page = try String(contentsOf: Repository.root.appending(path: Self.page), encoding: .utf8)
    var lines = ["<testsuites>"]
    for match in page.matches(of: /`((?:\w+\.)?(\w+Tests)\.(\w+)\*?)`/) {
      guard let ending = ending(String(match.1)) else { continue }
      for module in modules {
        lines.append(
          "<testcase classname=\"\(module).\(match.2)\" name=\"\(match.3)()\">\(ending)</testcase>")
      }
    }
    return (lines + ["</testsuites>"]).joined(separator: "\n")
  }

  /// The package with a mistake in the table.
  private func check(changing text: String, to mistake: String) throws -> ScriptOutcome {
    let root = FileManager.default.temporaryDirectory.appending(path: "package-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let tests = Repository.root.appending(path: "Tests")
    try FileManager.default.createDirectory(
      at: root.appending(path: "Tests"), withIntermediateDirectories: true)
    let folders = try FileManager.default.contentsOfDirectory(atPath: tests.path)
    for folder in ["Sources"] + folders.map({ "Tests/\($0)" }) where folder != Self.page {
      try FileManager.default.createSymbolicLink(
        at: root.appending(path: folder), withDestinationURL: Repository.root.appending(path: folder))
    }
    let page = try String(contentsOf: Repository.root.appending(path: Self.page), encoding: .utf8)
    #expect(page.contains(text))
    try Data(page.replacing(text, with: mistake).utf8).write(to: root.appending(path: Self.page))
    return try check(root)
  }

  private func check(_ root: URL, results: String? = nil) throws -> ScriptOutcome {
    guard let results else { return try runScript("check-red-lines", [root.path]) }
    let file = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString).xml")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(results.utf8).write(to: file)
    return try runScript("check-red-lines", [root.path, file.path()])
  }
}
