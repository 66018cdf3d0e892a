// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Editing

@Suite("Texts in an editor", .serialized)
struct TextEditorTests {
  @Test("A text comes back as the editor left it, however it was saved")
  func changed() throws {
    #expect(try Edits.edit("one\n", "echo two >> \"$1\"") == "one\ntwo\n")
    // As vim saves: a backup beside it, and another file of the same name.
    #expect(
      try Edits.edit("one\n", "cp \"$1\" \"$1~\"; (cat \"$1~\"; echo two) > \"$1.new\"; mv \"$1.new\" \"$1\"")
        == "one\ntwo\n")
    #expect(try Edits.edit("one\n", ": > \"$1\"") == "")
    #expect(try Edits.edit("", "cat \"$1\"; echo new > \"$1\"") == "new\n")
    let long = String(repeating: "0123456789abcde\n", count: 200_000)
    #expect(try Edits.edit(long, "echo end >> \"$1\"", limit: 4 << 20) == long + "end\n")
  }

  @Test("A text that the editor only read, or saved with the same bytes, is unchanged")
  func unchanged() throws {
    #expect(try Edits.edit("one\n", "cat \"$1\" > /dev/null") == nil)
    #expect(try Edits.edit("one\n", "cp \"$1\" /tmp/copy; cat /tmp/copy > \"$1\"") == nil)
    #expect(try Edits.edit("", "cat \"$1\"") == nil)
  }

  @Test("An editor that did not read the text, or goes on in the background, is an error and not 'unchanged'")
  func didNotWait() throws {
    #expect(throws: EditorError.didNotWait) { try Edits.edit("one\n", "exit 0") }
    #expect(throws: EditorError.didNotWait) { try Edits.edit("", "stat \"$1\" > /dev/null") }
    let mark = "60.\(UInt32.random(in: 1...UInt32.max))"
    #expect(throws: EditorError.didNotWait) {
      try Edits.edit("one\n", "cat \"$1\" > /dev/null; sleep \(mark) &")
    }
    #expect(try Edits.processes(with: mark) == [])
    // What it saved before it went counts.
    #expect(try Edits.edit("one\n", "echo two > \"$1\"; sleep \(mark) &") == "two\n")
  }

  @Test("An editor that fails, or is killed, changes nothing and its status is told")
  func failed() throws {
    #expect(throws: EditorError.failed(status: 1)) { try Edits.edit("one", "echo two >> \"$1\"; exit 1") }
    #expect(throws: EditorError.failed(status: 137)) {
      try Edits.edit("one", "echo two >> \"$1\"; kill -9 $$")
    }
  }

  @Test("A text of the limit comes back, one with a byte more does not")
  func limit() throws {
    #expect(try Edits.edit("one", "printf 0123456789 > \"$1\"", limit: 10) == "0123456789")
    #expect(throws: EditorError.tooLarge(limit: 9)) {
      try Edits.edit("one", "printf 0123456789 > \"$1\"", limit: 9)
    }
    #expect(throws: EditorError.tooLarge(limit: 9)) {
      try Edits.edit("one", "truncate -s 900M \"$1\"", limit: 9)
    }
  }

  @Test("Whatever is not a file in the end is missing, and is not followed")
  func missing() throws {
    #expect(throws: EditorError.fileMissing) { try Edits.edit("one", "rm \"$1\"") }
    #expect(throws: EditorError.fileMissing) { try Edits.edit("one", "rm \"$1\"; mkfifo \"$1\"") }
    #expect(throws: EditorError.fileMissing) { try Edits.edit("one", "ln -sf /etc/passwd \"$1\"") }
  }

  @Test("VISUAL comes before EDITOR, both before the usual editors, and what is not there is named")
  func choice() throws {
    func program(_ environment: [String: String]) throws -> String {
      try TextEditor(environment: environment).program
    }
    #expect(try program(["VISUAL": "a b", "EDITOR": "c", "PATH": "/usr/bin"]) == "a b")
    #expect(try program(["VISUAL": "", "EDITOR": "c"]) == "c")
    #expect(throws: EditorError.noEditor) { try program(["PATH": "/nonexistent:/proc"]) }
    let folder = try Edits.folderOnDisk()
    defer { try? FileManager.default.removeItem(at: folder) }
    let vi = folder.appending(path: "vi").path
    try Data("#!/bin/sh\necho two >> \"$1\"\n".utf8).write(to: URL(filePath: vi))
    #expect(throws: EditorError.noEditor) { try program(["PATH": folder.path]) }
    #expect(chmod(vi, 0o700) == 0)
    #expect(try program(["PATH": "/nonexistent:\(folder.path)"]) == "vi")

    for name in ["no-such-editor -w", "/etc/passwd"] {
      let editor = try TextEditor(
        executable: Edits.probe, environment: ["EDITOR": name, "PATH": "/usr/bin:/bin"])
      #expect(throws: EditorError.notFound(program: name)) {
        try Edits.edit(with: editor)
      }
    }
    let nothing = try TextEditor(executable: "/nonexistent", environment: ["EDITOR": "vi"])
    #expect(throws: EditorError.cannotStart) {
      try Edits.edit(with: nothing)
    }
    let other = try TextEditor(executable: "/bin/true", environment: ["EDITOR": "vi"])
    #expect(throws: EditorError.interrupted) {
      try Edits.edit(with: other)
    }
  }

  @Test(
    "The file has the asked ending and is the user's alone; arguments of the editor are split by the shell")
  func file() throws {
    let seen = try Edits.edit(
      "", "stat -c \"%n %a %u %F\" \"$1\" \"${1%/*}\" /tmp > \"/tmp/seen\"; cat /tmp/seen > \"$1\"",
      ending: "md")
    #expect(
      seen == """
        /tmp/coffer/message.md 600 \(getuid()) regular empty file
        /tmp/coffer 700 \(getuid()) directory
        /tmp 700 \(getuid()) directory

        """)
  }

  @Test("The role of the editor's process is of no use to whoever types it")
  func typed() throws {
    for words in [[], ["txt"], ["txt", "true"], ["txt", "true", "more"]] {
      let process = Process()
      process.executableURL = URL(filePath: Edits.probe)
      process.arguments = [EditorWorker.argument] + words
      process.standardInput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 1)
    }
  }
}
