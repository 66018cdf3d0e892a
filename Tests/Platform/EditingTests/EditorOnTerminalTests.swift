// SPDX-License-Identifier: Apache-2.0
//
// The terminal while an editor has it and afterwards, and what is left when somebody is killed.

import Extents
import Foundation
import PseudoTerminals
import Testing

@testable import Editing

@Suite("Editors on a terminal", .serialized)
struct EditorOnTerminalTests {
  private let terminal: PseudoTerminal
  /// The text, which is in the command lines of the editor and of the processes above it as well.
  private let mark = UUID().uuidString

  init() throws { terminal = try PseudoTerminal() }

  /// Starts the probe on the terminal, below bash with job control, which says how it ended.
  private func start(
    _ script: String = "", after line: String = "", editor: String? = nil
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setsid")
    let shell = "set -m; \"$0\" $1; echo \"status $?\"; \(line)"
    // The threads of tests block signals, and what they start would inherit that.
    let unblocked =
      "sigprocmask(SIG_SETMASK, POSIX::SigSet->new); $SIG{$_} = 'DEFAULT' for keys %SIG; exec @ARGV"
    process.arguments = [
      "--ctty", "--wait", "perl", "-MPOSIX", "-e", unblocked, "bash", "-c", shell, Edits.probe, mark,
    ]
    process.environment = Edits.environment(": \(mark); \(script)")
      .merging(editor.map { ["VISUAL": $0] } ?? [:]) { _, given in given }
    let device = FileHandle(fileDescriptor: terminal.device, closeOnDealloc: false)
    process.standardInput = device
    process.standardOutput = device
    process.standardError = device
    try process.run()
    return process
  }

  private func waitUntilGone() throws {
    let areGone = try Patience.until { try Edits.processes(with: mark).isEmpty }
    try #require(areGone, "a process is left")
  }

  @Test("Control-C is the editor's")
  func interrupt() throws {
    let process = try start(
      "trap \"echo heard; echo two > $1; exit 0\" INT; echo up; while :; do sleep 0.1; done")
    try terminal.expect("up\r\n")
    terminal.type([3])
    try terminal.expect("heard")
    try terminal.expect("changed\r\ntwo\r\n")
    try terminal.expect("status 0")
    process.waitUntilExit()
  }

  @Test("Control-Z stops the command with its editor, and both go on later")
  func stopping() throws {
    let process = try start("echo up; read line; echo $line > \"$1\"", after: "fg > /dev/null")
    try terminal.expect("up\r\n")
    terminal.type([26])
    try goesOn(process)
  }

  @Test("An editor that stops itself alone stops the command, and both go on later")
  func stoppingItself() throws {
    // The shell splits the path at blanks, which that of the tests' program may have.
    let folder = FileManager.default.temporaryDirectory.appending(path: "editing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let editor = folder.appending(path: "editor").path
    try Data("#!/bin/sh\nkill -STOP $$; read line; echo $line > \"$1\"\n".utf8).write(
      to: URL(filePath: editor))
    #expect(chmod(editor, 0o700) == 0)
    try goesOn(start(after: "fg > /dev/null", editor: editor))
  }

  private func goesOn(_ process: Process) throws {
    // 128 and SIGTSTP.
    try terminal.expect("status 148")
    terminal.type("three\r")
    try terminal.expect("changed\r\nthree\r\n")
    process.waitUntilExit()
  }

  @Test("The terminal is in order after an editor was killed")
  func killedEditor() throws {
    let process = try start("stty raw -echo; kill -9 $$")
    try terminal.expect("\u{1B}[?1047l")
    try terminal.expect("failed(status: 137)")
    try terminal.expect("status 0")
    #expect(terminal.isCooked)
    process.waitUntilExit()
  }

  @Test(
    "When the command is killed, its editor ends, and no process and no file is left",
    arguments: [SIGKILL, SIGTERM, SIGHUP])
  func killedCommand(signal: Int32) throws {
    // Somebody may have a folder of the name that the editor sees.
    let wasTaken = FileManager.default.fileExists(atPath: "/tmp/coffer")
    // The editor hears no signal, and a process of its has a session of its own.
    let process = try start(
      "trap : INT TERM HUP; echo two > \"$1\"; setsid sh -c \": \(mark); while :; do sleep 0.1; done\" & "
        + "echo up; while :; do sleep 0.1; done")
    try terminal.expect("up\r\n")
    let before = try Edits.processes(with: mark)
    #expect(before.count >= 4)
    // The mark is its text; the shell above it has the same words, but begins with others.
    let command = try #require(Edits.lowest(of: try Edits.processes(with: Edits.probe + "\0" + mark)))
    #expect(kill(command, signal) == 0)
    try terminal.expect("status \(128 + signal)")
    try waitUntilGone()
    #expect(FileManager.default.fileExists(atPath: "/tmp/coffer") == wasTaken)
    process.waitUntilExit()
  }

  @Test("When the process of the editor is killed, the command says so and the editor ends")
  func killedWorker() throws {
    let process = try start("echo two > \"$1\"; echo up; while :; do sleep 0.1; done")
    try terminal.expect("up\r\n")
    let workers = try Edits.processes(with: "\(EditorWorker.argument)\0txt\0sh -c ': \(mark);")
    #expect(workers.count == 2)
    kill(try #require(Edits.lowest(of: workers)), SIGKILL)
    try terminal.expect("interrupted")
    try waitUntilGone()
    process.waitUntilExit()
  }
}
