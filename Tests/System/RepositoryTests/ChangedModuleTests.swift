// SPDX-License-Identifier: Apache-2.0
//
// `scripts/changed-modules` chooses the tests of `scripts/test --changed`. A choice that leaves something out would let a
// fault through, so it is tried on a small package of its own: Low, Middle above it, and High above both.

import Foundation
import Repository
import Testing

@Suite("The modules that a change concerns")
struct ChangedModuleTests {
  private static let manifest = """
    // swift-tools-version:6.2
    import PackageDescription
    let package = Package(
      name: "small",
      targets: [
        .target(name: "Low", path: "Sources/Low"),
        .target(name: "Middle", dependencies: ["Low"], path: "Sources/Middle"),
        .target(name: "High", dependencies: ["Low", "Middle"], path: "Sources/High"),
        .target(name: "Aside", path: "Sources/Aside"),
        .target(name: "Beneath", path: "Sources/Beneath"),
        .target(name: "Between", dependencies: ["Beneath"], path: "Sources/Between"),
        .testTarget(name: "LowTests", dependencies: ["Low"], path: "Tests/LowTests"),
        .testTarget(name: "MiddleTests", dependencies: ["Middle", "Between"], path: "Tests/MiddleTests"),
        .testTarget(name: "HighTests", dependencies: ["High"], path: "Tests/HighTests"),
        .testTarget(name: "RepositoryTests", dependencies: ["Aside"], path: "Tests/RepositoryTests"),
      ])
    """

  /// What is printed after one file was changed, in a folder of its own.
  private func lines(changing file: String) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "changed-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let names = ["Low", "Middle", "High", "Aside", "Beneath", "Between"]
    let files =
      names.map { "Sources/\($0)/\($0).swift" }
      + ["Low", "Middle", "High", "Repository"].map { "Tests/\($0)Tests/Tests.swift" } + ["Docs/page.md"]
    for name in files {
      let path = folder.appending(path: name)
      try FileManager.default.createDirectory(
        at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("// \(name)\n".utf8).write(to: path)
    }
    try Data(Self.manifest.utf8).write(to: folder.appending(path: "Package.swift"))
    let script = Repository.root.appending(path: "scripts/changed-modules").path(percentEncoded: false)
    let run = """
      set -e; git init -q; git add .
      git -c user.name=A -c user.email=a@example.org commit -q -m one
      echo '// more' >>'\(file)'
      '\(script)' HEAD
      """
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", run]
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(text)")
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test(
    "A module's own tests come first, those of what is above it and of the package second, and of nothing else",
    arguments: [
      ("Sources/Low/Low.swift", "Low", "High Middle Repository"),
      ("Sources/Middle/Middle.swift", "Middle", "High Repository"),
      ("Sources/High/High.swift", "High", "Repository"),
      ("Tests/MiddleTests/Tests.swift", "Middle", "Repository"),
      ("Sources/Low/New.swift", "Low", "High Middle Repository"), ("Docs/page.md", "Repository", ""),
      ("Tests/XCTMain.swift", "High Low Middle Repository", ""),
      // A target without tests of its name has those right above it.
      ("Sources/Aside/Aside.swift", "Repository", ""),
      ("Sources/Between/Between.swift", "Middle", "Repository"),
      ("Sources/Beneath/Beneath.swift", "Middle", "Repository"),
    ])
  func chosen(file: String, near: String, far: String) throws {
    #expect(try lines(changing: file).prefix(2) == [near, far])
  }

  @Test("A change of Package.swift concerns everything")
  func everything() throws {
    #expect(try lines(changing: "Package.swift").prefix(2) == ["High Low Middle Repository", ""])
  }
}
