// SPDX-License-Identifier: Apache-2.0
//
// `coffer message copy` with shell scripts in the place of the programs of a clipboard, and through a terminal.

import Extents
import Foundation
import Glibc
import PseudoTerminals
import Testing

@Suite("The clipboard")
struct ClipboardTests {
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with a note, and a program of a clipboard on the path.
  private func place(_ program: String, _ script: String, text: String = "Amsel-42\n") throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    #expect(try place.run(["add", "--title", "Door"] + Self.pass, input: text).status == 0)
    try FileManager.default.createDirectory(
      at: place.folder.appending(path: "bin"), withIntermediateDirectories: true)
    try place.write(
      "#!/bin/sh\ncd '\(place.folder.path())'\n\(script)\n", to: "bin/\(program)", mode: 0o700)
    return place
  }

  private func environment(_ place: Place, _ display: String) -> [String: String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return ["PATH": "\(place.folder.path())/bin:\(path)", display: "test-0"]
  }

  /// Like xclip: it has the clipboard until it is ended, or until something else is copied. What it had, stays in 'had'.
  private static let xclip = """
    trap 'rm -f clip; exit 0' TERM
    echo "$@" > said; env >> said
    cat > clip.new; mv clip.new clip; cp clip had.new; mv had.new had
    while [ ! -e other ]; do sleep 0.05; done
    """

  private func clip(_ place: Place, _ name: String = "clip") -> String? {
    try? String(contentsOf: place.folder.appending(path: name), encoding: .utf8)
  }

  /// Whether a process runs that could clear the clipboard of this place.
  private func isKept(_ place: Place) throws -> Bool {
    let files = FileManager.default
    return try files.contentsOfDirectory(atPath: "/proc").contains { process in
      guard Int32(process) != nil, let line = files.contents(atPath: "/proc/\(process)/cmdline") else {
        return false
      }
      return line.range(of: Data("clipboard-keeper".utf8)) != nil
        && line.range(of: Data(place.folder.path.utf8)) != nil
    }
  }

  @Test("The text goes to xclip without its last line end, and is taken back when it is time")
  func cleared() throws {
    let place = try place("xclip", Self.xclip)
    let environment = environment(place, "DISPLAY")
    // More than a busy machine needs to start the program.
    let run = try place.runProcess(
      ["copy", "door", "--clear-after", "5"] + Self.pass, environment: environment)
    #expect(run.status == 0 && run.output.isEmpty)
    #expect(run.error == "On the clipboard; 5 s from now it is cleared.\n")
    #expect(Patience.until { clip(place, "had") == "Amsel-42" })
    #expect(Patience.until { clip(place) == nil })
    let said = try String(contentsOf: place.folder.appending(path: "said"), encoding: .utf8)
    #expect(said.hasPrefix("-selection clipboard -in -quiet\n") && !said.contains("Amsel"))
  }

  @Test("What was copied meanwhile stays, and with 0 the text does")
  func kept() throws {
    let place = try place("xsel", Self.xclip)
    let environment = environment(place, "DISPLAY")
    // An xclip of this machine would come first.
    try place.write("#!/bin/sh\nexit 1\n", to: "bin/xclip", mode: 0o700)
    let run = try place.runProcess(
      ["copy", "door", "--clear-after", "0", "--json"] + Self.pass, environment: environment)
    #expect(run.status == 0 && run.error.isEmpty)
    #expect(run.output.contains(#""byteCount":8,"clipboard":"x11""#) && !run.output.contains("clearsAfter"))
    #expect(Patience.until { clip(place) == "Amsel-42" })
    // One that was copied later, and is taken back after three seconds, goes before it.
    let later = try self.place("xclip", Self.xclip)
    let short = try later.runProcess(
      ["copy", "door", "--clear-after", "3"] + Self.pass, environment: self.environment(later, "DISPLAY"))
    #expect(short.status == 0, "\(short.error)")
    #expect(try Patience.until { try !isKept(later) })
    #expect(clip(place) == "Amsel-42")
    #expect(try isKept(place))
    try place.write("", to: "other")
    let again = try place.runProcess(
      ["copy", "door", "--clear-after", "1"] + Self.pass, environment: environment)
    #expect(again.status == 0, "\(again.error)")
    // Nobody is left who could clear it.
    #expect(try Patience.until { try !isKept(place) })
    #expect(clip(place) == "Amsel-42")
  }

  @Test("wl-copy, which keeps the text in a file, has /tmp in memory and ends when it is time")
  func memory() throws {
    let place = try place("none", "")
    // In /tmp, of which it sees the folders of programs.
    let folder = place.folder.appending(path: "bin")
    let pipe = folder.path() + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let program = folder.path() + "/wl-copy"
    let script =
      "#!/bin/sh\nexec 3> '\(pipe)'\n"
      + "cat > /tmp/coffer-test-buffer; cat /tmp/coffer-test-buffer >&3; exec sleep 100000\n"
    try Data(script.utf8).write(to: URL(filePath: program))
    try #require(chmod(program, 0o700) == 0)
    let environment = environment(place, "WAYLAND_DISPLAY")
    let process = place.process(
      Place.coffer, ["copy", "door", "--clear-after", "5"] + Self.pass, environment)
    try process.run()
    let reading = try #require(FileHandle(forReadingAtPath: pipe))
    #expect(try reading.read(upToCount: 8) == Data("Amsel-42".utf8))
    #expect(access("/tmp/coffer-test-buffer", F_OK) != 0)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    // The end of the pipe is the end of the program, which would go on for a day.
    #expect(try reading.readToEnd() ?? Data() == Data())
  }

  @Test("A program that does not take the text, and no terminal: nothing was copied")
  func refused() throws {
    let place = try place("xclip", "exit 1")
    let run = try place.runProcess(
      ["copy", "door"] + Self.pass, environment: environment(place, "DISPLAY"))
    #expect(run.status == 10 && run.error.contains("xclip did not take the text"), "\(run.error)")
    let none = try place.run(["copy", "door", "--json"] + Self.pass)
    #expect(none.status == 10 && none.error.contains(#""code":"no_clipboard""#))
    let wrong = try place.run(["copy", "door", "--clear-after", "soon"] + Self.pass)
    #expect(wrong.status == 2 && wrong.error.contains("--clear-after takes seconds"))
  }

  @Test("Without a desktop it goes through the terminal, and Control-C clears it at once")
  func terminal() throws {
    let place = try place("none", "", text: "a\r\nb\r\n")
    let command = try CommandOnTerminal(["copy", "door"] + Self.pass, in: place, columns: 120)
    try command.terminal.expect("\u{1B}]52;c;YQpi\u{7}")
    try command.terminal.expect("45 s from now it is cleared, or at once by Control-C.")
    try command.terminal.expect("4")
    command.terminal.type("\u{3}")
    try command.terminal.expect("\u{1B}]52;c;!\u{7}")
    let end = command.end()
    #expect(end.status == 0 && end.shown.contains("Cleared."), "\(end)")
    let timed = try CommandOnTerminal(
      ["copy", "door", "--clear-after", "1"] + Self.pass, in: place, environment: ["TMUX": "x,1,0"])
    try timed.terminal.expect("\u{1B}Ptmux;\u{1B}\u{1B}]52;c;YQpi\u{7}\u{1B}\\")
    try timed.terminal.expect("\u{1B}Ptmux;\u{1B}\u{1B}]52;c;IA==\u{7}\u{1B}\\")
    #expect(timed.end().status == 0)
    let kept = try CommandOnTerminal(["copy", "door", "--clear-after", "0"] + Self.pass, in: place).end()
    #expect(kept.status == 0 && kept.shown.contains("it stays there") && !kept.shown.contains("IA=="))
  }

  @Test("Signals clear a terminal's clipboard", arguments: [SIGTERM, SIGHUP])
  func signals(signal: Int32) throws {
    let place = try place("none", "")
    let command = try CommandOnTerminal(["copy", "door"] + Self.pass, in: place)
    try command.terminal.expect("Control-C.")
    try command.send(signal)
    try command.terminal.expect("\u{1B}]52;c;!\u{7}")
    _ = command.end()
    withExtendedLifetime(place) {}
  }

  @Test("What is not text, is empty or would control a terminal is told")
  func unfit() throws {
    let place = try place("none", "", text: "echo\u{1B}[201~ x\n")
    let command = try CommandOnTerminal(["copy", "door", "--clear-after", "0"] + Self.pass, in: place)
    #expect(command.end().shown.contains("has control characters"))
    try place.write("a\0b", to: "data.bin")
    #expect(try place.run(["add", "data.bin"] + Self.pass).status == 0)
    let data = try place.run(["copy", "data.bin"] + Self.pass)
    #expect(data.status == 7 && data.error.contains("the content is not text"))
    #expect(try place.run(["add", "--title", "Empty"] + Self.pass).status == 0)
    let empty = try place.run(["copy", "empty"] + Self.pass)
    #expect(empty.status == 7 && empty.error.contains("no text to copy"))
  }
}
