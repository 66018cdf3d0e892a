// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import ScriptedPrompts
import Secrets
import Testing

@testable import UserAuthentication

private let variables = ProcessInfo.processInfo.environment

// Serialised: a script that is still open for writing in one thread cannot be run by another.
@Suite("Asking through pinentry", .serialized)
struct PinentryPromptTests {
  @Test("The answer is percent-decoded, and the texts are percent-escaped")
  func asks() throws {
    let program = try FakePinentry(reply: "D 100%25 s%C3%A4fe%0Ax\\nOK")
    let request = PromptRequest("Passphrase:", description: "50% off\nline two", problem: "Wrong, again")
    #expect(try program.answer(request) == "100% s\u{E4}fe\nx")
    let log = try program.log()
    #expect(log.contains("SETDESC 50%25 off%0Aline two"))
    #expect(log.contains("SETERROR Wrong, again"))
    #expect(log.contains("SETPROMPT Passphrase:"))
    #expect(log.contains("SETTITLE Coffer"))
    #expect(log.last == "BYE")
    #expect(try program.isGone())
  }

  @Test("Several data lines and comments make one answer")
  func severalLines() throws {
    let program = try FakePinentry(reply: "# note\\nS PASSWORD_FROM_CACHE\\nD one\\nD  two\\nOK")
    #expect(try program.answer(PromptRequest("P")) == "one two")
  }

  @Test("No data is an empty answer")
  func empty() throws {
    let program = try FakePinentry(reply: "OK")
    #expect(try program.answer(PromptRequest("P")) == "")
  }

  @Test(
    "What goes wrong is told apart, and no process is left",
    arguments: [
      ("ERR 83886179 Operation cancelled", PromptError.cancelled),
      ("ERR 83886142 Timeout", .timedOut), ("ERR 83886143 Other", .promptProgramFailed),
      ("D broken%4\\nOK", .promptProgramFailed),
      ("D broken%zz\\nOK", .promptProgramFailed),
      ("INQUIRE QUALITY x", .promptProgramFailed),
      ("D 123456789\\nOK", .tooLong(byteCountLimit: 8)),
    ])
  func failures(reply: String, expected: PromptError) throws {
    let program = try FakePinentry(reply: reply)
    #expect(throws: expected) {
      try program.answer(PromptRequest("P", byteCountLimit: 8))
    }
    #expect(try program.isGone())
  }

  @Test("A program that ends at once, or greets wrongly, has failed", arguments: ["/bin/true", "/bin/echo"])
  func endsEarly(path: String) {
    #expect(throws: PromptError.promptProgramFailed) {
      try answer(PinentryPrompt(program: path, variables: variables), PromptRequest("P"))
    }
  }

  @Test(
    "A program that is missing has an error of its own",
    arguments: ["/nonexistent/pinentry", "no-such-pinentry-here"])
  func missing(path: String) {
    #expect(throws: PromptError.promptProgramMissing) {
      try answer(PinentryPrompt(program: path, variables: variables), PromptRequest("P"))
    }
  }

  @Test(
    "A program that hangs, and ends for no SIGTERM, is ended when its time is over",
    arguments: [FakePinentry.Hang.greeting, .option, .answer])
  func hangs(hang: FakePinentry.Hang) throws {
    let program = try FakePinentry(reply: "D one\\nOK", hang: hang)
    #expect(throws: PromptError.timedOut) { try program.answer(PromptRequest("P")) }
    #expect(try program.isGone())
    #expect(throws: PromptError.timedOut) { try program.confirm() }
    #expect(try program.isGone())
  }

  @Test("A program that does not end has answered all the same, and is ended")
  func doesNotEnd() throws {
    let program = try FakePinentry(reply: "D one\\nOK", hang: .end)
    #expect(try program.answer(PromptRequest("P")) == "one")
    #expect(try program.isGone())
  }

  @Test("A program is waited for, for half a minute, and an answer for five")
  func patience() {
    #expect(
      PinentryPatience().programLimit == .seconds(30) && PinentryPatience().answerLimit == .seconds(300))
  }

  @Test("Confirming knows yes, no and giving up")
  func confirms() throws {
    #expect(try FakePinentry(reply: "OK").confirm())
    #expect(try !FakePinentry(reply: "ERR 83886194 Not confirmed").confirm())
    #expect(throws: PromptError.cancelled) { try FakePinentry(reply: "ERR 83886179 Cancelled").confirm() }
  }
}

/// A shell script that talks like pinentry, notes what it was told, and gives one fixed reply.
final class FakePinentry {
  let path: String
  private let folder: URL

  /// Where it stops talking, deaf to SIGTERM.
  enum Hang: String, Sendable { case greeting, option = "OPTION", answer = "GETPIN", end = "BYE" }

  private let hang: Hang?

  init(reply: String, hang: Hang? = nil) throws {
    self.hang = hang
    folder = FileManager.default.temporaryDirectory.appending(path: "pinentry-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "pinentry").path
    // Waits for ever, says nothing, and has the folder in its command line.
    let waits = "exec tail -n 0 -f '\(folder.path)/text'"
    let script = """
      #!/bin/sh
      echo $$ > '\(folder.path)/pid'
      \(hang == nil ? "" : "trap '' TERM")
      \(hang == .greeting ? waits : "")
      echo 'OK Pleased to meet you'
      while read -r line; do
        case "$line" in
          \(hang == .answer ? "CONFIRM|" : "")\(hang?.rawValue ?? "nothing")*) \(waits) ;;
        esac
        printf '%s\\n' "$line" >> '\(folder.path)/log'
        case "$line" in
          GETPIN|CONFIRM) printf '\(reply.replacing("%", with: "%%"))\\n' ;;
          OPTION*) echo 'ERR 83886254 Unknown option' ;;
          BYE) echo 'OK closing'; exit 0 ;;
          *) echo OK ;;
        esac
      done
      """
    // Another process makes the program: a file that this one has open for writing may be open for a moment
    // longer in a child that another test is starting, and cannot be run then («text file busy»).
    let text = folder.appending(path: "text").path
    try Data(script.utf8).write(to: URL(filePath: text))
    let install = Process()
    install.executableURL = URL(filePath: "/usr/bin/install")
    install.arguments = ["-m", "700", text, path]
    try install.run()
    install.waitUntilExit()
    try #require(install.terminationStatus == 0)
  }

  func answer(_ request: PromptRequest) throws -> String {
    try UserAuthenticationTests.answer(prompt, request)
  }

  func confirm() throws -> Bool { try prompt.confirm("Sure?") }

  private var prompt: PinentryPrompt {
    // Only where it hangs is the time short: elsewhere it has all that a busy machine needs.
    var patience = PinentryPatience(programLimit: Patience.duration, answerLimit: Patience.duration)
    switch hang {
    case .greeting, .option: patience.programLimit = .seconds(2)
    case .answer: patience.answerLimit = .milliseconds(300)
    case .end, nil: break
    }
    return PinentryPrompt(program: path, variables: variables, patience: patience)
  }

  func log() throws -> [String] {
    try String(contentsOfFile: folder.path + "/log", encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// Whether the process has ended and was collected.
  func isGone() throws -> Bool {
    // One that was ended before its first line has told no number; the folder is in its command line, always.
    guard let text = try? String(contentsOfFile: folder.path + "/pid", encoding: .utf8), !text.isEmpty else {
      let files = FileManager.default
      return try files.contentsOfDirectory(atPath: "/proc").filter { Int32($0) != nil }.allSatisfy {
        files.contents(atPath: "/proc/\($0)/cmdline")?.range(of: Data(folder.path.utf8)) == nil
      }
    }
    let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    return process > 0 && kill(process, 0) == -1 && errno == ESRCH
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}

@Suite("Scripted answers")
struct ScriptedPromptTests {
  @Test("Answers come in order, then there are none")
  func order() throws {
    let prompt = ScriptedPrompt(replies: [shared("one")], confirmations: [false, true])
    prompt.append(SecretBytes(copying: Array("two".utf8).span.bytes))
    #expect(try answer(prompt, PromptRequest("First")) == "one")
    #expect(try answer(prompt, PromptRequest("Second", isShown: true)) == "two")
    #expect(throws: PromptError.noTerminal) { try answer(prompt, PromptRequest("Third")) }
    #expect(try !prompt.confirm("Really?"))
    #expect(try prompt.confirm("Really now?"))
    #expect(throws: PromptError.noTerminal) { try prompt.confirm("Again?") }
    #expect(prompt.requests.map(\.prompt) == ["First", "Second", "Third"])
    #expect(prompt.questions == ["Really?", "Really now?", "Again?"])
  }

  @Test("An answer longer than the request allows is an error")
  func tooLong() {
    let prompt = ScriptedPrompt(replies: [shared("12345")])
    #expect(throws: PromptError.tooLong(byteCountLimit: 4)) {
      try answer(prompt, PromptRequest("PIN", byteCountLimit: 4))
    }
  }
}
