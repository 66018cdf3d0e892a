// SPDX-License-Identifier: Apache-2.0
//
// What bash, zsh and fish offer after the Tab key: titles and names in a session, nothing without one, and never
// anything that a shell would run.

import AgentLeash
import ArgumentParser
import Foundation
import Testing

@testable import CofferCommands

@Suite("Completion in shells")
struct CompletionTests {
  private static let pass = ["--passphrase-file", "pass"]
  private static let titles = [
    "Garden lease", "garage", "Twin", "twin", "$(touch ran)", "`touch ran`", "-x", "a'b",
  ]

  /// A coffer with notes of these titles, and its session.
  private func place(isUnlocked: Bool = true) throws -> (place: Place, leash: AgentLeash) {
    let place = try Place()
    let leash = try AgentLeash(folder: place.folder.path())
    try place.makeCoffer()
    for title in Self.titles {
      let options = ["add", "--title=\(title)", "--tag", "home"]
      #expect(try place.runProcess(options + Self.pass, input: title).status == 0)
    }
    if isUnlocked { try #require(try run(place, ["unlock"] + Self.pass).status == 0) }
    return (place, leash)
  }

  private func run(
    _ place: Place, _ arguments: [String], shell: String? = nil, program: URL = Place.coffer
  ) throws -> Place.Outcome {
    var environment: [String: String] = [:]
    if let shell { environment["SAP_SHELL"] = shell }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    environment["PATH"] = place.folder.path() + "/bin:" + path
    return try place.runProcess(arguments, environment: environment, program: program)
  }

  /// What a shell asks for the first argument of a command.
  private func offers(_ place: Place, _ words: [String], shell: String) throws -> [String] {
    let typed = words.last ?? ""
    let outcome = try run(
      place,
      ["---completion"] + words.dropLast() + [
        "--", "positional@0", "\(words.count)", "\(typed.utf8.count)", "coffer",
      ]
        + words, shell: shell)
    #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("A session offers titles, with the ends of ids where a title is not enough")
  func titles() throws {
    let (place, leash) = try place()
    defer { withExtendedLifetime(leash) {} }
    let fish = try offers(place, ["message", "show", ""], shell: "fish")
    #expect(fish.contains { $0.hasPrefix("Garden lease\t") } && fish.contains { $0.hasPrefix("garage\t") })
    #expect(fish.count { $0.wholeMatch(of: /[0-9a-f]{8}\t.*  [Tt]win/) != nil } == 2)
    #expect(fish.contains { $0.wholeMatch(of: /[0-9a-f]{8}\t.*  -x/) != nil })
    #expect(!fish.contains { $0.hasPrefix("-") || $0.hasPrefix("Twin") })
    let zsh = try offers(place, ["message", "show", "GAR"], shell: "zsh").filter { $0 != " " }
    #expect(zsh.count == 2 && zsh.contains { $0.hasPrefix("Garden lease:") }, "\(zsh)")
    #expect(try offers(place, ["show", "gar"], shell: "fish").count == 2)
    #expect(try offers(place, ["settings", ""], shell: "fish").isEmpty)
  }

  @Test("Without a session nothing is offered, asked or said")
  func locked() throws {
    let (place, leash) = try place(isUnlocked: false)
    defer { withExtendedLifetime(leash) {} }
    #expect(try offers(place, ["message", "show", ""], shell: "fish").isEmpty)
    let missing = try Place()
    #expect(try offers(missing, ["contact", "show", ""], shell: "zsh").filter { $0 != " " }.isEmpty)
  }

  @Test("bash completes with its script, also without message, and runs nothing of a title")
  func scripts() throws {
    let (place, leash) = try place()
    defer { withExtendedLifetime(leash) {} }
    try FileManager.default.createDirectory(
      at: place.folder.appending(path: "bin"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: place.folder.appending(path: "bin/coffer"), withDestinationURL: Place.coffer)
    let bash = """
      source <(coffer --generate-completion-script bash)
      for typed in '' Gar; do
        for command in 'message show' show; do
          COMPREPLY=(); COMP_WORDS=(coffer $command "$typed"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
          COMP_LINE="coffer $command $typed"; COMP_POINT=${#COMP_LINE}
          _coffer coffer "$typed" show; printf '%s\\n' "$command[$typed]" "${COMPREPLY[@]}"
        done
      done
      """
    let shown = try run(place, ["-c", bash], program: URL(filePath: "/bin/bash"))
    let lines = shown.output.split(separator: "\n").map(String.init)
    #expect(lines.count { $0 == "Garden lease" } == 4, "\(shown)")
    #expect(lines.contains("message show[Gar]") && lines.contains("show[]"))
    #expect(!FileManager.default.fileExists(atPath: place.folder.appending(path: "ran").path()))
  }

  @Test(
    "A word for bash stands for itself after its expansion",
    arguments: ["it is", "$HOME", "*", "~", "\\", "Zürich #1", "#", "a\u{301} b", "👩‍👩‍👧", "[x]", "?"])
  func words(word: String) throws {
    let line = try #require(CompletionOffer(word).line(for: .bash))
    let place = try Place()
    let script = "while IFS= read -r w; do printf '<%s>' \"$w\"; done < <(IFS=$'\\n' compgen -W \"$1\" -- '')"
    let shown = try place.runProcess(["-c", script, "bash", line], program: URL(filePath: "/bin/bash")).output
    #expect(shown == "<\(word)>")
  }
}
