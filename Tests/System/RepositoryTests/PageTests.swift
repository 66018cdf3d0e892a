// SPDX-License-Identifier: Apache-2.0
//
// Pages and comments: numbers that are explained, links to symbols that exist, commands that exist, and plain
// words. The checkers are `scripts/check-…`; here each is run on the package itself, and on made-up packages
// with a mistake, so that a checker which finds nothing cannot pass.

import Foundation
import Repository
import Testing

@Suite("Pages and comments")
struct PageTests {
  @Test(
    "This package has no such mistake",
    arguments: ["check-citations", "check-symbols", "check-commands", "check-words"])
  func thisPackage(checker: String) throws {
    let outcome = try run(checker, in: Repository.root)
    #expect(outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.hasPrefix("ok  "))
  }

  // MARK: Numbers of decisions, and headings

  @Test(
    "A number that no row explains is named with its place",
    arguments: [
      ("Sources/Base/Secrets/Made.swift", "// one\n/// Erases (PD-98).\n", ":2: PD-98"),
      ("Tests/Base/SecretsTests/Made.swift", "  @Test(\"AM-77: erased\")\n", ":1: AM-77"),
      ("Specs/made.md", "As D77 says.\n", ":1: D77"), ("README.md", "| (SE-41) |\n", ":1: SE-41"),
    ])
  func unexplained(file: String, text: String, complaint: String) throws {
    let outcome = try run("check-citations", on: [Self.decisions, (file, text)])
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix(file + complaint), "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  @Test(
    "Numbers that a row explains pass, and so do names that are not numbers of ours",
    arguments: [
      "/// Erases (PD-06, D36).", "// SP 800-38D, FIPS 180-4, RFC 9580", "// prefix D1, key 0xD44F, UTF-16",
      "  D4 4D 17 AD 12 A0, D44D77 D440, ED25-19, DD-44", "// AM-x",
    ])
  func explained(text: String) throws {
    let outcome = try run("check-citations", on: [Self.decisions, ("Sources/Base/Secrets/Made.swift", text)])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test("A number in the text of a row does not explain it")
  func onlyHeadings() throws {
    let outcome = try run(
      "check-citations", on: [("Docs/decisions.md", "| PD-06 | as PD-07 | |\n"), ("README.md", "PD-06")])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("Docs/decisions.md:1: PD-07"), "\(outcome.output)")
  }

  @Test("A heading that the page does not have is named with its place", arguments: Self.wrongHeadings)
  func unknownHeading(text: String, complaint: String) throws {
    let outcome = try run(
      "check-citations", on: [Self.decisions, Self.page, ("Sources/Base/Secrets/Made.swift", text)])
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix("Sources/Base/Secrets/Made.swift" + complaint), "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  @Test(
    "A heading that the page has passes, of any level, and also on the next line",
    arguments: [
      "// one (PD-06; Specs/page.md, \"Row\")\n", "  /// PD-06 (Specs/page.md,\n  /// \"A part\").\n",
      "// PD-06: Specs/page.md, `init`; \"Column\"\n", "/* PD-06, Specs/page.md,\n * \"coffer init\" */\n",
    ])
  func knownHeading(text: String) throws {
    let outcome = try run(
      "check-citations", on: [Self.decisions, Self.page, ("Sources/Base/Secrets/Made.swift", text)])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  private static let wrongHeadings = [
    ("// one\n// two (Specs/page.md, \"Column\")\n", ":2: Specs/page.md has no heading \"Column\""),
    ("// one (Specs/page.md,\n// \"Ro\").\n", ":1: Specs/page.md has no heading \"Ro\""),
    ("// Specs/page.md, \"bytes\"\n", ":1: Specs/page.md has no heading \"bytes\""),
    ("// Specs/gone.md, \"Row\"\n", ":1: Specs/gone.md has no heading \"Row\""),
  ]

  private static let page = (
    "Specs/page.md", "# Page\n\n## Row\n\n```text\n# bytes\n```\n\n### A part\n\n### `coffer init`\n"
  )

  private static let decisions = (
    "Docs/decisions.md", "| rule | what |\n|---|---|\n| PD-06 | a |\n| D36 | b |\n"
  )

  // MARK: Links to symbols

  @Test(
    "A link to what the module does not declare is named",
    arguments: [
      "recover(_:)", "Custody/recover(_:)", "Custody/remove()", "Gone", "Custody/Fault/unknown", "load(_:)",
      "Custody/init(at:)", "Fault/lost(_:)", "Elsewhere",
    ])
  func unknownSymbol(link: String) throws {
    let outcome = try run("check-symbols", on: Self.custody + [Self.comment(link)])
    #expect(outcome.status == 1)
    #expect(
      outcome.output == "Sources/Vault/KeyCustody/Made.swift:1: there is no \(link) in KeyCustody;"
        + " name a symbol that it declares\n")
  }

  @Test(
    "A link to what the module declares passes",
    arguments: [
      "Custody", "Custody/recover()", "recover()", "recover", "Custody/load(_:from:)", "load(_:from:)",
      "Custody/init(home:)", "Custody/Fault/lost(key:_:)", "Fault/lost", "Fault/small", "Fault/allCases",
      "Custody/limit", "KeyCustody/Custody", "Custody/withKey(_:_:)", "KeyCustody", "look(isDeep:progress:)",
    ])
  func knownSymbol(link: String) throws {
    let outcome = try run("check-symbols", on: Self.custody + [Self.comment(link)])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test("Links in a page of the catalogue are checked, and code in it is not")
  func catalogue() throws {
    let page = (
      "Sources/Vault/KeyCustody/KeyCustody.docc/KeyCustody.md",
      "# ``KeyCustody``\n```\n``Code``\n```\n``Gone``\n"
    )
    let outcome = try run("check-symbols", on: Self.custody + [page])
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix(page.0 + ":5: there is no Gone"), "\(outcome.output)")
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  private static func comment(_ link: String) -> (String, String) {
    ("Sources/Vault/KeyCustody/Made.swift", "/// As ``\(link)`` does.\n")
  }

  private static let custody = [
    (
      "Sources/Vault/KeyCustody/Custody.swift",
      """
      public struct Custody {
        public static let limit = 3
        public enum Fault: Error, CaseIterable {
          case small, large
          case lost(key: [Int], String)
        }
        public init(
          home: String
        ) {}
        public func recover() throws {}
        public func look(isDeep: Bool, progress: (Int, Int) -> Void = { _, _ in }) {}
        public func load(_ name: String, from place: (Int, Int)) -> Int { 1 }
        public func withKey<R: ~Copyable, E: Error>(
          _ name: String, _ body: (Int, Int) throws(E) -> R
        ) throws(E) -> R { try body(1, 2) }
      }
      """
    ), ("Sources/Vault/Agent/Elsewhere.swift", "public struct Elsewhere {}\n"),
  ]

  // MARK: Commands in pages

  @Test(
    "A command or a script that there is not is named",
    arguments: [
      ("Run `coffer unlok`.", "\"coffer unlok\""), ("Run `coffer slot remove ID`.", "\"coffer slot remove\""),
      ("```\n$ coffer slot add fido\n```", "\"coffer slot add fido\""),
      ("    coffer --home DIR lok --all", "\"coffer lok\""),
      ("`coffer slot list|drop`", "\"coffer slot drop\""),
      ("`cat x | coffer-sop sing k`", "\"coffer-sop sing\""),
      ("See scripts/lnt.", "scripts/lnt"),
    ])
  func unknownCommand(text: String, complaint: String) throws {
    let outcome = try run("check-commands", on: Self.program + [("README.md", text + "\n")])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("there is no "), "\(outcome.output)")
    #expect(outcome.output.contains(complaint), "\(outcome.output)")
    #expect(outcome.output.hasPrefix("README.md:"))
  }

  @Test(
    "Commands that there are, placeholders and labels pass",
    arguments: [
      "`coffer --home DIR unlock`", "`coffer slot add tpm PIN`", "`coffer slot list|add`",
      "`coffer COMMAND --help`",
      "`coffer help slot`", "```swift\ncoffer.close()\ncoffer unlok\n```", "a coffer unlok in a sentence",
      "\"coffer slot v1 check\"", "`coffer-sop sign key < text`", "`scripts/lint --fix`",
      "```\ncoffer # what it is\n```",
    ])
  func knownCommand(text: String) throws {
    let outcome = try run("check-commands", on: Self.program + [("README.md", text + "\n")])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test(
    "A man page that names a wrong command or option, or leaves a command out, is named",
    arguments: [
      (".B coffer unlok\n", ":4: there is no command \"coffer unlok\""),
      (".EX\n  coffer slot ad\n.EE\n", ":5: there is no command \"coffer slot ad\""),
      (".B \\-\\-hom\n", ":4: no command has an option \"--hom\""), ("", nil),
    ])
  func manPage(text: String, complaint: String?) throws {
    let whole = ".B coffer unlock\n.B coffer lock\n.BR coffer slot\n"
    let outcome = try run("check-commands", on: Self.program + [("Docs/man/coffer.1", whole + text)])
    #expect(outcome.status == (complaint == nil ? 0 : 1), "\(outcome.output)")
    if let complaint {
      #expect(outcome.output.hasPrefix("Docs/man/coffer.1" + complaint), "\(outcome.output)")
    }
    let part = try run("check-commands", on: Self.program + [("Docs/man/coffer.1", ".B coffer lock\n")])
    #expect(part.output.contains("Docs/man/coffer.1: the command \"coffer slot\" is missing"))
  }

  private static let program = [
    (
      "Sources/CLI/CofferCommands/Commands.swift",
      """
      struct Root: Command {
        static let configuration = CommandConfiguration(
          commandName: "coffer", subcommands: [Unlock.self, Lock.self, Slot.self])
      }
      struct Unlock: Command {
        static let configuration = CommandConfiguration(commandName: "unlock")
      }
      struct Lock: Command {
        static let configuration = CommandConfiguration(commandName: "lock")
      }
      struct Slot: Command {
        static let configuration = CommandConfiguration(
          commandName: "slot", subcommands: [SlotList.self, SlotAdd.self])
      }
      struct SlotList: Command {
        static let configuration = CommandConfiguration(commandName: "list")
      }
      struct SlotAdd: Command {
        static let configuration = CommandConfiguration(commandName: "add", subcommands: [SlotTPM.self])
      }
      struct SlotTPM: Command {
        static let configuration = CommandConfiguration(commandName: "tpm")
      }
      """
    ),
    (
      "Sources/OpenPGP/SOPCommands/Commands/SignCommand.swift",
      "enum SignCommand: Subcommand {\n  static let name = \"sign\"\n}\n"
    ), ("scripts/lint", "#!/bin/sh\n"),
  ]

  // MARK: Words

  @Test(
    "A word that our rules replace is named with what to write",
    arguments: [
      ("README.md", "It begins anew.", "anew"), ("Specs/made.md", "One without a name is none.", "is none"),
      ("scripts/made", "# what stands behind it", "stands behind"),
      ("Docs/made.md", "Signatures stand beside their data.", "stand beside"),
      ("Specs/made.md", "A line that is no header is passed over.", "is no "),
      ("Docs/made.md", "the person decides", "the person"),
      ("Examples/main.swift", "print(\"no file «x»\")", "«"), ("SECURITY.md", "the room below", "the room"),
      ("CONTRIBUTING.md", "It works all the same.", "all the same"),
      (".ci/run", "# what has vanished", "what has vanished"),
      ("Sources/Base/Secrets/Made.swift", "// made anew", "anew"),
    ])
  func replaced(file: String, text: String, word: String) throws {
    let outcome = try run("check-words", on: [(file, text + "\n")])
    #expect(outcome.status == 1)
    #expect(outcome.output.hasPrefix("\(file):1: \"\(word)\": "), "\(outcome.output)")
  }

  @Test(
    "Other uses of these words pass, and so do worked examples",
    arguments: [
      "There is none.", "There is no coffer.", "It is no longer valid.", "A star stands for any name.",
      "a stand-in in software", "None is left.", "There is room for more.", "a person_required error",
      "personal", "```text x\n«the person»\n```",
    ])
  func kept(text: String) throws {
    let outcome = try run("check-words", on: [("README.md", text + "\n")])
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  // MARK: Running

  /// Runs a checker on a package of these files.
  private func run(
    _ checker: String, on files: [(name: String, text: String)]
  ) throws -> ScriptOutcome {
    let root = FileManager.default.temporaryDirectory.appending(path: "package-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for (name, text) in files {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return try run(checker, in: root)
  }

  private func run(_ checker: String, in root: URL) throws -> ScriptOutcome {
    try runScript(checker, [root.path])
  }
}
