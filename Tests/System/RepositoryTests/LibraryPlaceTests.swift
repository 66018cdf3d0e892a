// SPDX-License-Identifier: Apache-2.0
//
// `scripts/build` lets no command out that looks for libraries in a place of its own. Here the checker is run
// on programs that are known, so that one which finds nothing cannot pass.

import Foundation
import Repository
import Testing

@Suite("Where commands look for libraries")
struct LibraryPlaceTests {
  private static let checker = Repository.root.appending(path: "scripts/check-runpath")

  @Test("A program that names a place of its own is named with it, among others that do not")
  func named() throws {
    // Tests are linked with the folder that they are in.
    let program = CommandLine.arguments[0]
    let outcome = try check(["/bin/sh", program])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(program) && outcome.output.contains("$ORIGIN"), "\(outcome.output)")
    #expect(!outcome.output.contains("/bin/sh"))
  }

  @Test("One that names none passes, and a file that is not a program does not")
  func others() throws {
    #expect(try check(["/bin/sh"]).status == 0)
    #expect(try check([Self.checker.path()]).status != 0)
    #expect(try check(["/nonexistent"]).status != 0)
  }

  private func check(_ programs: [String]) throws -> ScriptOutcome {
    try runScript("check-runpath", programs)
  }
}
