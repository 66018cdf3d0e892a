// SPDX-License-Identifier: Apache-2.0
//
// The tables in Docs/requirements.md. The checker is `scripts/check-requirements`; here it is run on the package
// itself, and on copies of the page with a mistake, so that a checker which finds nothing cannot pass.

import Extents
import Foundation
import Repository
import Testing

@Suite("The requirements")
struct RequirementTests {
  private static let page = "Docs/requirements.md"

  @Test("Every requirement has its row, and what the rows name exists")
  func thisPackage() throws {
    let outcome = try runScript("check-requirements", [Repository.root.path])
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasPrefix("ok  "))
  }

  @Test(
    "A mistake in the page is named",
    arguments: Shares("mistakes in the requirements", count: 4).of([
      ("`ErasureTests.everything`", "`ErasureTests.never`", "there is no test \"ErasureTests.never\""),
      ("`ErasureTests.everything`", "`ErasureTests`", "\"ErasureTests\" is not the name of a test"),
      (
        "`KeyCustodyTests.MemoryTests.nothingStays`", "`MemoryTests.nothingLeft`",
        "is in PicturesTests SearchIndexTests VaultsTests; write the module"
      ),
      ("`erase.transcript`", "`raze.transcript`", "there is no test \"raze.transcript\""),
      ("`coffer erase`", "`coffer raze`", "there is no command \"coffer raze\""),
      ("`coffer slot add tpm`", "`coffer slot add`", "there is no command \"coffer slot add\""),
      ("| PD-06 |", "| PD-07 |", "PD-07 is there twice"), ("| PD-06 |", "| PD-07 |", "PD-06 is missing"),
      ("| PD-06 |", "| PD-66 |", "PD-66 is unknown"),
      ("| works | `coffer erase` |", "| done | `coffer erase` |", "\"done\" is not a state"),
      ("| works | `coffer erase` |", "| part | `coffer erase` |", "PG-20 is \"part\"; say why"),
      ("| works | `coffer erase` |", "| works | — |", "PG-20 is \"works\"; name a command and a test"),
      (
        "| works | `coffer erase` |", "| TODO: coffer erase | — |",
        "there is a command \"coffer erase\" now"
      ),
      ("| works | `coffer erase` |", "| part: a half | `coffer erase` |", "and the page says"),
      ("There are ", "There are 1", "and the page says 1"),
    ]))
  func mistakes(text: String, mistake: String, complaint: String) throws {
    let outcome = try check(changing: text, to: mistake)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
  }

  /// The package with a mistake in the page.
  private func check(changing text: String, to mistake: String) throws -> ScriptOutcome {
    let root = FileManager.default.temporaryDirectory.appending(path: "package-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    try FileManager.default.createDirectory(
      at: root.appending(path: "Docs"), withIntermediateDirectories: true)
    for folder in ["Sources", "Tests", "scripts", "Interop", ".ci"] {
      try FileManager.default.createSymbolicLink(
        at: root.appending(path: folder), withDestinationURL: Repository.root.appending(path: folder))
    }
    let page = try String(contentsOf: Repository.root.appending(path: Self.page), encoding: .utf8)
    #expect(page.contains(text))
    try Data(page.replacing(text, with: mistake).utf8).write(to: root.appending(path: Self.page))
    return try runScript("check-requirements", [root.path()])
  }
}
