// SPDX-License-Identifier: Apache-2.0
//
// The layers, as ARCHITECTURE.md draws them and Package.swift lists them. The checker is
// `scripts/check-imports`; here it is run on the package itself, and on made-up packages that break a
// rule, so that a checker which finds nothing cannot pass.

import Foundation
import Repository
import Testing

@Suite("Layers")
struct ImportTests {
  @Test("Every import in Sources is in the module's list in Package.swift, and every list is used")
  func thisPackage() throws {
    let outcome = try checkImports(of: Repository.root)
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasPrefix("ok"))
  }

  @Test(
    "An import that the list does not have is named with its file and line",
    arguments: [
      ("Vaults", "internal import Enclaves", "which its list in Package.swift does not have"),
      ("Vaults", "import GRDB", "which its list in Package.swift does not have"),
      ("Secrets", "import Foundation", "does without Foundation"),
      ("Secrets", "internal import FoundationEssentials", "does without Foundation"),
      ("Vaults", "@testable import Security", "may not import Security"),
      ("Vaults", "import struct Newcomer.Exit", "which its list in Package.swift does not have"),
    ])
  func forbidden(module: String, line: String, complaint: String) throws {
    let outcome = try checkImports(module: module, adding: line)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
    #expect(outcome.output.contains("/\(module)/Made.swift:3: "), "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
  }

  @Test(
    "A list that the layers do not allow is named",
    arguments: [
      (true, #"module("Early", in: .base, ["Secrets"]),"#, "Early depends on Secrets, which does not stand"),
      (false, #"module("Late", in: .openPGP, ["Storage"]),"#, "Late (openPGP) depends on Storage (platform)"),
      (
        false, #"module("Late", in: .platform, ["OpenPGP"]),"#, "Late (platform) depends on OpenPGP (openPGP)"
      ),
      (false, #"module("Late", in: .cellar, []),"#, "cellar is no layer"),
    ])
  func lists(first: Bool, list: String, complaint: String) throws {
    let manifest = first ? list + "\n" + Self.manifest : Self.manifest + "\n" + list
    let outcome = try checkImports(module: "Secrets", adding: "", manifest: manifest)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
  }

  @Test("What a list has and no file imports is named, and a module that has no list")
  func unused() throws {
    let unused = Self.manifest.replacing(
      #""Keychains", in: .vault, ["#, with: #""Keychains", in: .vault, [log, "#)
    let outcome = try checkImports(module: "Keychains", adding: "", manifest: unused)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("Keychains lists Logging and never imports it"), "\(outcome.output)")
    let unknown = try checkImports(module: "Cellar", adding: "")
    #expect(unknown.status == 1)
    #expect(unknown.output.contains("Package.swift has no module Cellar"), "\(unknown.output)")
  }

  @Test(
    "An import that the list has is accepted",
    arguments: [
      ("Vaults", "internal import Keychains"), ("Vaults", "import Foundation"),
      ("Keychains", "import Security"), ("Secrets", "// import Vaults"),
      ("OpenPGP", "@_spi(Made) public import struct Secrets.Bytes"),
    ])
  func allowed(module: String, line: String) throws {
    let outcome = try checkImports(module: module, adding: line)
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test(
    "A command of the tutorial that reaches the system by itself is named; one that the tutorial has not may",
    arguments: [
      ("Commands/EncryptCommand.swift", "let file = unsafe open(path, O_RDONLY)", false),
      ("Shell/InputFile.swift", "let there = FileManager.default.fileExists(atPath: path)", false),
      ("Letters/LetterFiles.swift", "let file = try UnnamedFile(path: path)", false),
      ("Shell/CommandContext.swift", "let coffer = try LockedCoffer(home: home)", false),
      ("Tutorial/TutorialWorld.swift", "let machine = Machine()", false),
      ("Commands/BackupCommand.swift", "let file = unsafe open(path, O_RDONLY)", true),
      ("Surroundings/SystemFiles.swift", "let file = unsafe Glibc.open(path, O_RDONLY)", true),
      ("Shell/InputFile.swift", "let coffer = try context.open(opening)", true),
    ])
  func surroundings(file: String, line: String, isAllowed: Bool) throws {
    try check(file, line, isAllowed, "a command of the tutorial reaches")
  }

  @Test(
    "A command that asks the process for its environment or streams, or keeps a value for all runs, is named",
    arguments: [
      ("Commands/BackupCommand.swift", "let pager = unsafe getenv(name)", false),
      ("Account/SpeedView.swift", "let all = ProcessInfo.processInfo.environment", false),
      ("Shell/Terminal.swift", "let columns = columns(of: STDOUT_FILENO)", false),
      ("Git/GitTerminal.swift", #"let terminal = unsafe open("/dev/tty", O_WRONLY)"#, false),
      ("Commands/AgentCommand.swift", #"let program = "/proc/self/exe""#, false),
      ("Shell/Interruption.swift", "static let wasRequested = Atomic(false)", false),
      ("Account/OpenAccount.swift", "static let bar = Mutex<ProgressBar?>(nil)", false),
      ("Commands/InitCommand.swift", "static nonisolated(unsafe) var count = 0", false),
      ("Surroundings/RunEnvironment.swift", #"terminal = "/dev/tty""#, true),
      ("Commands/InitCommand.swift", "static var shown: [String] { names.map(\\.shown) }", true),
      ("Shell/PagedOutput.swift", "let paging = Mutex<PagedOutput?>(nil)", true),
    ])
  func values(file: String, line: String, isAllowed: Bool) throws {
    try check(file, line, isAllowed, "a command asks the process, or keeps a value for all runs")
  }

  private func check(_ file: String, _ line: String, _ isAllowed: Bool, _ words: String) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "package-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let made = root.appending(path: "Sources/CLI/CofferCommands/\(file)")
    try FileManager.default.createDirectory(
      at: made.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("// a file\n\n\(line)\n".utf8).write(to: made)
    let manifest = #"module("CofferCommands", in: .cli, []),"#
    try Data(manifest.utf8).write(to: root.appending(path: "Package.swift"))
    let outcome = try checkImports(of: root)
    #expect(outcome.status == (isAllowed ? 0 : 1), "\(outcome.output)")
    #expect(outcome.output.contains("\(file):3: \(words)") == !isAllowed, "\(outcome.output)")
  }

  private static let manifest = """
    module("Secrets", in: .base, []),
    module("OpenPGP", in: .openPGP, ["Secrets"]),
    module("Storage", in: .platform, [grdb, .target("CThing", trait: "Thing")]),
    module("Keychains", in: .vault, ["Secrets", "Storage"]),
    module("Vaults", in: .vault, ["Keychains"]),
    """

  /// What the modules of the made-up package import.
  private static let sources = [
    "Base/Secrets": "", "OpenPGP/OpenPGP": "import Secrets", "Platform/Storage": "import GRDB\nimport CThing",
    "Vault/Keychains": "import Secrets\nimport Storage", "Vault/Vaults": "public import Keychains",
  ]

  private func checkImports(
    module: String, adding line: String, manifest: String = manifest
  ) throws -> ScriptOutcome {
    let root = FileManager.default.temporaryDirectory.appending(path: "package-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let folders = Self.sources.keys
    let target = folders.first { $0.hasSuffix("/\(module)") } ?? "Vault/\(module)"
    for folder in Set(folders).union([target]) {
      let folder = root.appending(path: "Sources/\(folder)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    for (folder, text) in Self.sources {
      try Data(text.utf8).write(to: root.appending(path: "Sources/\(folder)/Usual.swift"))
    }
    try Data("// a file\n\n\(line)\n".utf8).write(to: root.appending(path: "Sources/\(target)/Made.swift"))
    try Data(manifest.utf8).write(to: root.appending(path: "Package.swift"))
    return try checkImports(of: root)
  }

  private func checkImports(of root: URL) throws -> ScriptOutcome {
    try runScript("check-imports", [root.path])
  }
}
