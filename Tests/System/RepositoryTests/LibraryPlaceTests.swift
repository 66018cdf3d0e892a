// SPDX-License-Identifier: Apache-2.0
//
// `scripts/build` lets no command out that looks for libraries in a place of its own, or is linked with one that is to be
// opened when it is first used. Here the checker is run on programs that are known, so that one which finds nothing cannot
// pass.

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
    #expect(try check([Self.checker.path]).status != 0)
    #expect(try check(["/nonexistent"]).status != 0)
  }

  @Test("A program that is linked with a library which is to be opened is named with it")
  func linked() throws {
    // qrencode is another program, which is linked with its library.
    let outcome = try check(["/usr/bin/qrencode", "/bin/sh"])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("/usr/bin/qrencode") && outcome.output.contains("libqrencode.so.4"))
    #expect(!outcome.output.contains("/bin/sh"))
  }

  @Test("The library for dpkg-shlibdeps is linked with every library that is opened")
  func opened() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "opened-\(UUID()).so").path()
    defer { try? FileManager.default.removeItem(atPath: file) }
    let names = try runScript("opened-libraries", []).output.split(separator: "\n")
    #expect(names.contains("libtss2-esys.so.0") && names.contains("libpng16.so.16"))
    let made = try runScript("opened-libraries", [file])
    #expect(made.status == 0, "\(made.output)")
    let outcome = try check([file])
    for name in names { #expect(outcome.output.contains(name), "\(outcome.output)") }
  }

  private func check(_ programs: [String]) throws -> ScriptOutcome {
    try runScript("check-runpath", programs)
  }
}
