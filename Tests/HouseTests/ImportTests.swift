// SPDX-License-Identifier: Apache-2.0
//
// The arrows between the rooms, as ARCHITECTURE.md draws them. The tables and the checker are
// `scripts/check-imports`; here it is run on the package itself, and on made-up packages that break a
// rule, so that a checker which finds nothing cannot pass.

import Foundation
import Testing

@Suite("The rooms of the house")
struct ImportTests {
  @Test("Every import in Sources goes to a lower floor, and to modules the room may use")
  func thisPackage() throws {
    let outcome = try checkImports(of: packageRoot)
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasPrefix("ok"))
  }

  @Test(
    "An import that the architecture forbids is named with its file and line",
    arguments: [
      ("Secrets", "import Vaults", "a floor above"),
      ("Primitives", "internal import Keychains", "a floor above"),
      ("Storage", "public import Primitives", "neighbour"),
      ("Vaults", "@testable import Captures", "neighbour"),
      ("CofferKit", "import struct CofferCommands.Exit", "a floor above"),
      ("Vaults", "import COpenSSL", "may not import COpenSSL"),
      ("CofferKit", "import GRDB", "may not import GRDB"),
      ("CofferKit", "import ArgumentParser", "may not import ArgumentParser"),
      ("Secrets", "import Foundation", "may not import Foundation"),
      ("MessageFormats", "internal import FoundationEssentials", "may not import FoundationEssentials"),
      ("Vaults", "import Newcomer", "is in no table"),
      ("Cellar", "import Secrets", "has no floor"),
    ])
  func forbidden(room: String, line: String, complaint: String) throws {
    let outcome = try checkImports(ofRoom: room, source: "// a file\n\(line)\n")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
    if room != "Cellar" {
      #expect(outcome.output.hasPrefix("Sources/\(room)/Made.swift:2: "), "\(outcome.output)")
    }
  }

  @Test(
    "An import that goes down is accepted",
    arguments: [
      ("Vaults", "internal import Primitives"), ("Primitives", "public import Secrets"),
      ("Storage", "internal import GRDB"), ("Keychains", "import CZxcvbn"),
      ("CofferKit", "// import CofferCommands"), ("coffer", "import CofferCommands"),
    ])
  func allowed(room: String, line: String) throws {
    let outcome = try checkImports(ofRoom: room, source: "\(line)\n")
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  private let packageRoot = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func checkImports(ofRoom room: String, source: String) throws -> (status: Int32, output: String) {
    let root = FileManager.default.temporaryDirectory.appending(path: "house-\(UUID().uuidString)")
    let folder = root.appending(path: "Sources/\(room)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    try Data(source.utf8).write(to: folder.appending(path: "Made.swift"))
    return try checkImports(of: root)
  }

  private func checkImports(of root: URL) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = packageRoot.appending(path: "scripts/check-imports")
    process.arguments = [root.path()]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
