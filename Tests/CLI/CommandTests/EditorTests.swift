// SPDX-License-Identifier: Apache-2.0
//
// `coffer message edit` with shell scripts as editors: what they save is stored, and nothing of it reaches a disk.

import Foundation
import Glibc
import Testing

@Suite("Editing a message")
struct EditorTests {
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with a note called Lease.
  private func place(_ text: String = "until May\n") throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    let added = try place.run(["add", "--title", "Lease"] + Self.pass, input: text)
    #expect(added.status == 0)
    return place
  }

  /// Edits the note with a shell script, whose first argument is the file.
  private func edit(_ place: Place, _ script: String, _ options: [String] = []) throws -> Place.Outcome {
    try place.write("#!/bin/sh\n\(script)\n", to: "editor", mode: 0o700)
    return try place.runProcess(["edit", "lease"] + options + Self.pass, environment: ["EDITOR": "./editor"])
  }

  private func text(_ place: Place) throws -> String {
    try place.run(["show", "lease", "--raw"] + Self.pass).output
  }

  @Test("What the editor saves is the new version, and the former one is kept")
  func edited() throws {
    let place = try place()
    let edited = try edit(place, "sed -i s/May/June/ \"$1\"")
    #expect(edited.status == 0 && edited.error == "The message is changed; this is version 2.\n")
    #expect(try text(place) == "until June\n")
    let former = try place.run(["history", "lease", "--show", "1", "--raw"] + Self.pass)
    #expect(former.output == "until May\n")
    let again = try edit(place, "echo more >> \"$1\"", ["--json"])
    #expect(again.output.contains(#""changed":true"#) && again.output.contains(#""version":3"#))
  }

  @Test(
    "Editors that save in their own ways are understood",
    arguments: [
      "cp \"$1\" \"$1~\"; echo new > \"$1.tmp\"; mv \"$1.tmp\" \"$1\"",
      "cat \"$1\"; printf 'new\\n' > \"$TMPDIR/x\"; cat \"$TMPDIR/x\" > \"$1\"",
      "rm \"$1\"; echo new > \"$1\"",
      "cd \"$(dirname \"$1\")\" && echo new > \"$(basename \"$1\")\"",
    ])
  func ways(script: String) throws {
    let place = try place()
    #expect(try edit(place, script).status == 0)
    #expect(try text(place) == "new\n")
  }

  @Test("VISUAL counts before EDITOR, and both may have arguments")
  func chosen() throws {
    let place = try place()
    let run = try place.runProcess(
      ["edit", "lease"] + Self.pass,
      environment: ["VISUAL": "sed -i -e s/May/July/", "EDITOR": "sed -i -e s/May/June/"])
    #expect(run.status == 0)
    #expect(try text(place) == "until July\n")
  }

  @Test(
    "An editor that changes nothing, fails, is killed or loses the file changes nothing",
    arguments: [
      ("cat \"$1\"", 0, "Nothing is changed.\n"),
      ("true", 7, "the editor ended without reading the message"),
      ("echo x >> \"$1\"; exit 3", 7, "the editor ended with the status 3"),
      ("echo x >> \"$1\"; kill -9 $$", 7, "the editor ended with the status 137"),
      ("rm \"$1\"", 7, "the editor removed the file"),
      ("rm \"$1\"; mkdir \"$1\"", 7, "the editor removed the file"),
      ("rm \"$1\"; ln -s /etc/passwd \"$1\"", 7, "the editor removed the file"),
      ("truncate -s 65M \"$1\"", 7, "a message may be at most 64 MiB"),
    ])
  func unchanged(script: String, status: Int32, words: String) throws {
    let place = try place()
    let run = try edit(place, script)
    #expect(run.status == status && run.error.contains(words), "\(run.error)")
    #expect(try text(place) == "until May\n")
    let history = try place.run(["history", "lease"] + Self.pass)
    #expect(history.output.split(separator: "\n").count == 1)
  }

  @Test("An editor that is not there is told")
  func missing() throws {
    let place = try place()
    let none = try place.runProcess(["edit", "lease"] + Self.pass, environment: ["PATH": "/nowhere"])
    #expect(none.status == 10 && none.error.contains("no editor is installed here"))
    let wrong = try place.runProcess(
      ["edit", "lease"] + Self.pass, environment: ["EDITOR": "/nowhere/editor"])
    #expect(wrong.status == 10 && wrong.error.contains("'/nowhere/editor' is not installed"))
  }

  @Test("The editor cannot write where the coffer is, nor beside it")
  func readOnly() throws {
    let place = try place()
    let run = try edit(
      place,
      "cat \"$1\"; for folder in . coffer / ~; do cp \"$1\" \"$folder/leak\" && echo \"$folder\" >> \"$1\"; done; :"
    )
    #expect(run.status == 0 && run.error.contains("Read-only file system"))
    #expect(try text(place) == "until May\n")
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.folder.path())
    #expect(!names.contains { $0.hasSuffix("leak") })
  }

  @Test("When the command is killed, so is the editor, and its files go with it")
  func killed() async throws {
    let place = try place()
    let pipe = place.folder.path() + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    // The editor, which the test can see only from outside, holds the pipe open until it dies.
    try place.write(
      "#!/bin/sh\ntrap '' HUP TERM INT\nexec 3<>./pipe\necho ready >&3\nwhile :; do sleep 1; done\n",
      to: "editor", mode: 0o700)
    let process = place.process(Place.coffer, ["edit", "lease"] + Self.pass, ["EDITOR": "./editor"])
    try process.run()
    let reading = try #require(FileHandle(forReadingAtPath: pipe))
    #expect(try reading.read(upToCount: 6) == Data("ready\n".utf8))
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    // The end of the pipe is the end of the last process that had it.
    #expect(try reading.readToEnd() ?? Data() == Data())
    #expect(try text(place) == "until May\n")
  }

  @Test("What is not text is refused before an editor runs")
  func binary() throws {
    let place = try place()
    let data = try place.write("a\0b", to: "data.bin")
    #expect(try place.run(["add", "--title", "Data", data] + Self.pass).status == 0)
    let run = try place.runProcess(["edit", "data"] + Self.pass, environment: ["EDITOR": "false"])
    #expect(run.status == 7 && run.error.contains("the content is not text"))
  }

  @Test("An edit of what was removed meanwhile becomes a new message", arguments: [false, true])
  func removedMeanwhile(isErased: Bool) throws {
    let place = try place()
    let coffer = Place.coffer.path
    let (asks, answers) = (place.folder.path() + "/asks", place.folder.path() + "/answers")
    try #require(mkfifo(asks, 0o600) == 0 && mkfifo(answers, 0o600) == 0)
    let erasing = isErased ? "'\(coffer)' --quiet trash empty --yes --passphrase-file pass; " : ""
    let other = place.process(
      URL(filePath: "/bin/sh"),
      [
        "-c",
        "read x < asks; '\(coffer)' --quiet remove lease --yes --passphrase-file pass; \(erasing)echo done > answers",
      ],
      [:])
    try other.run()
    let run = try edit(place, "echo go > asks; read x < answers; echo an hour of work >> \"$1\"")
    other.waitUntilExit()
    #expect(run.status == 0, "\(run.error)")
    #expect(run.error.hasPrefix("The message was removed meanwhile, so what you wrote is a new one: "))
    #expect(try text(place) == "until May\nan hour of work\n")
    #expect(try place.run(["trash", "list", "--json"] + Self.pass).output.isEmpty == isErased)
  }

  @Test("An edit of what was changed meanwhile keeps both versions, and says so")
  func beside() throws {
    let place = try place()
    let coffer = Place.coffer.path
    // The editor cannot write to the coffer itself: another process, which waits for it, does.
    let (asks, answers) = (place.folder.path() + "/asks", place.folder.path() + "/answers")
    try #require(mkfifo(asks, 0o600) == 0 && mkfifo(answers, 0o600) == 0)
    let other = place.process(
      URL(filePath: "/bin/sh"),
      [
        "-c",
        "read x < asks; '\(coffer)' set lease --tag t --passphrase-file pass; echo done > answers",
      ],
      [:])
    try other.run()
    let run = try edit(place, "echo go > asks; read x < answers; echo ours >> \"$1\"")
    other.waitUntilExit()
    #expect(run.status == 0)
    #expect(run.error.contains("this is version 3") && run.error.contains("was changed meanwhile"))
    #expect(try text(place) == "until May\nours\n")
    let history = try place.run(["history", "lease", "--json"] + Self.pass).output
    #expect(history.contains(#""replaces":[1],"shown":true"#))
  }
}
