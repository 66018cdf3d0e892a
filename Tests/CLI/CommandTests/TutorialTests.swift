// SPDX-License-Identifier: Apache-2.0
//
// The tutorial on a terminal: what is typed, what is refused, and what is left of it.

import AgentLeash
import Foundation
import PseudoTerminals
import Testing

@testable import CofferCommands

@Suite("The tutorial")
struct TutorialTests {
  /// Everything below a folder: names, modes, contents and times, to the nanosecond.
  private func snapshot(_ folder: URL) throws -> [String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path()).sorted()
    return try ([""] + names).map { name in
      let path = folder.path() + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { throw PseudoTerminal.Failure(path) }
      let content = status.st_mode & S_IFMT == S_IFREG ? try Data(contentsOf: URL(filePath: path)) : Data()
      let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }
      return "\(name) \(status.st_mode) \(times) \(content.base64EncodedString())"
    }
  }

  /// Types a line of the tutorial, and what its prompts ask for; the next prompt is waited for.
  private func type(
    _ line: String, _ answers: [(String, String)] = [], _ command: CommandOnTerminal
  ) throws -> String {
    try command.terminal.expect("coffer> ")
    command.terminal.type(line + "\r")
    // The line is drawn again with each key.
    var shown = try command.terminal.expect("\n")
    for (prompt, answer) in answers { shown += try command.answer(prompt, answer) }
    return shown
  }

  private func begin(_ place: Place, _ arguments: [String] = []) throws -> CommandOnTerminal {
    let command = try CommandOnTerminal(["tutorial"] + arguments, in: place, columns: 120)
    if arguments.isEmpty { try command.answer("Return begins ", "") }
    return command
  }

  private static let secret = TutorialSurroundings.passphrase

  @Test("Hints, three wrong tries, and what leads outside: said, and nothing happens")
  func helped() throws {
    let place = try Place()
    let command = try begin(place)
    let line = "Type:  identity generate --user-id 'Ada Tutorial <ada@tutorial.invalid>'"
    _ = try type("hint", command)
    try command.terminal.expect(line)
    // A look at something is not a wrong try.
    _ = try type("identity list", command)
    _ = try type("help", command)
    try command.terminal.expect("And four words of its own")
    _ = try type("identity", command)
    try command.terminal.expect("hint: coffer identity --help")
    _ = try type("identity generate", command)
    try command.terminal.expect("an identity needs --user-id")
    _ = try type("identify", command)
    try command.terminal.expect("there is no command 'coffer identify'")
    try command.terminal.expect(line)
    for (words, answer) in [
      ("coffer identity list --home /tmp", "the tutorial has no other coffer"),
      ("contact import /etc/passwd", "the tutorial has no files but its own"),
      ("contact import ../key.asc", "the tutorial has no files but its own"),
      ("contact import cypherair://import/v1/AAAA", "the tutorial has no URLs"),
      ("contact import https://example.org/key.asc", "the tutorial has no URLs"),
      ("identity list --passphrase-fd 0", "the tutorial has no secrets but those that you type"),
      ("gpg-import", "'coffer gpg-import' is not in the tutorial"),
      ("unlock", "'coffer unlock' is not in the tutorial"),
      ("agent", "'coffer agent' is not in the tutorial"),
      ("identity revoke me --export x", "'coffer identity revoke' is not in the tutorial"),
      ("identity export me > ada.asc", "here is no shell, which '>' is for"),
      ("contact import 'bella.asc", "a quotation mark is missing at the end"),
      ("contact import nothing.asc", "nothing.asc"),
      ("decrypt", "standard input"),
    ] {
      _ = try type(words, command)
      try command.terminal.expect(answer)
    }
    _ = try type("quit", command)
    try command.terminal.expect("You have left the tutorial.")
    #expect(command.end().status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.path()).isEmpty)
  }

  @Test(
    "Control-D and Control-C leave it, also in a chapter that is begun with", arguments: ["\u{4}", "\u{3}"])
  func left(key: String) throws {
    let place = try Place()
    let command = try begin(place, ["--chapter", "5"])
    try command.terminal.expect("5 of 10")
    try command.terminal.expect("coffer> ")
    command.terminal.type(key)
    try command.terminal.expect("You have left the tutorial.")
    try command.terminal.expect("coffer tutorial --chapter 5")
    #expect(command.end().status == 0)
    #expect(command.terminal.isCooked)
  }

  @Test("'again' repeats the task with what it refers to")
  func again() throws {
    let place = try Place()
    let command = try begin(place, ["--chapter", "3"])
    try command.terminal.expect("coffer> ")
    command.terminal.type("again\r")
    try command.terminal.expect("Dear Bella, shall we meet on Friday at four?")
    try command.terminal.expect("Encrypt it to her:")
    _ = try type("quit", command)
    #expect(command.end().status == 0)
  }

  @Test("What the tutorial says fits a terminal of 80 columns")
  func width() throws {
    let world = try TutorialWorld(TutorialSurroundings(TutorialPrompt(nil)))
    let steps = TutorialChapter.all.flatMap(\.steps)
    let lines =
      TutorialChapter.sandbox + TutorialChapter.farewell + TutorialChapter.all.flatMap(\.words)
      + steps.flatMap { $0.words + $0.end(world) + ["Type:  \($0.line)"] }
    #expect(lines.count > 100)
    for line in lines { #expect(line.text.count <= 80, "\(line.text)") }
  }

  @Test("Skipped chapters leave what later ones need, and a skipped tutorial is not completed")
  func skipped() throws {
    let place = try Place()
    let leash = try AgentLeash(folder: place.folder.path())
    try place.makeCoffer()
    let pass = place.folder.path() + "/pass"
    try #require(try place.runProcess(["unlock", "--passphrase-file", pass]).status == 0)
    let command = try begin(place)
    for _ in 1...8 { _ = try type("skip", command) }
    try command.terminal.expect("9 of 10")
    _ = try type(
      "identity backup me second.asc",
      [("new passphrase: ", Self.secret), ("once more: ", Self.secret), ("Ada Tutorial: ", Self.secret)],
      command)
    for _ in 9...10 { _ = try type("skip", command) }
    try command.terminal.expect("You know the way now.")
    #expect(command.end().status == 0)
    #expect(try place.run(["tutorial", "--play", "--speed", "0"]).status == 0)
    #expect(try place.run(["status", "--json"]).output.contains("\"tutorialCompleted\":false"))
    withExtendedLifetime(leash) {}
  }

  @Test("All of it by hand; then the session's coffer knows, and nothing else has changed")
  func completed() throws {
    let place = try Place()
    let leash = try AgentLeash(folder: place.folder.path())
    try place.makeCoffer()
    let pass = place.folder.path() + "/pass"
    try #require(try place.runProcess(["unlock", "--passphrase-file", pass]).status == 0)
    #expect(try place.run(["status", "--json"]).output.contains("\"tutorialCompleted\":false"))
    let ada = "identity generate --user-id 'Ada Tutorial <ada@tutorial.invalid>'"
    let command = try begin(place)
    _ = try type(ada, [("to make an identity: ", Self.secret)], command)
    _ = try type("coffer identity export me", command)
    _ = try type("contact import bella.asc", [("[y/N]: ", "y")], command)
    _ = try type("encrypt --to bella letter.txt", command)
    _ = try type("decrypt reply.asc", command)
    try command.terminal.expect("Friday at four is fine.")
    _ = try type("decrypt changed.asc", command)
    _ = try type("decrypt other.asc", command)
    _ = try type("decrypt stranger.asc", command)
    _ = try type("contact verify bella", command)
    var heard = ""
    for _ in 1...5 {
      try command.terminal.expect("Bella reads: ")
      heard = try command.terminal.expect("\n").trimmingCharacters(in: .whitespacesAndNewlines)
      try command.terminal.expect(": ")
      command.terminal.type(heard + "\r")
    }
    try command.terminal.expect("is verified from now on")
    _ = try type("decrypt reply.asc", command)
    _ = try type("contact import bella-new.asc", [("1 to 4 [1]: ", "1")], command)
    _ = try type("encrypt --to bella --output again.pgp letter.txt", command)
    _ = try type("contact import bella-new.asc", [("1 to 4 [1]: ", "2")], command)
    _ = try type("identity qr me --png ada.png", command)
    // Another picture would take a process.
    _ = try type("contact import ada.png", command)
    try command.terminal.expect("the tutorial has no process that decodes pictures")
    _ = try type("contact verify bella --qr screen.png", [("[y/N]: ", "y")], command)
    try command.terminal.expect("is verified from now on")
    _ = try type(
      "identity certify bella --output bella-certified.asc", [("as Ada Tutorial: ", Self.secret)], command)
    try command.terminal.expect("Certified as")
    let backup = [
      ("new passphrase: ", Self.secret), ("once more: ", Self.secret), ("Ada Tutorial: ", Self.secret),
    ]
    _ = try type("identity backup me backup.asc", backup, command)
    _ = try type(
      "identity import backup.asc",
      [("[y/N]: ", "y"), ("invalid>\": ", Self.secret), ("1 private key: ", Self.secret)], command)
    _ = try type("decrypt reply.asc", command)
    _ = try type("identity backup me second.asc", backup, command)
    _ = try type(
      "mode high-security --guard security-key",
      [("to change the mode: ", Self.secret), ("for your finger: ", ""), ("[y/N]: ", "n")], command)
    _ = try type("decrypt reply.asc", [("passphrase, to read", Self.secret)], command)
    try command.terminal.expect("no security key")
    _ = try type(
      "decrypt reply.asc", [("passphrase, to read", Self.secret), ("for your finger: ", "")], command)
    try command.terminal.expect("Friday at four is fine.")
    _ = try type("self-test --output report.txt", command)
    try command.terminal.expect("passed")
    try command.terminal.expect("You know the way now.")
    #expect(command.end().status == 0)
    let status = try place.run(["status", "--json"]).output
    #expect(status.contains("\"tutorialCompleted\":true"))
    #expect(status.contains("\"identityCount\":0") && status.contains("\"contactCount\":0"))
    withExtendedLifetime(leash) {}
  }

  @Test(
    "It opens libraries and random numbers, connects to nothing and writes nothing; a coffer stays as it was",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace"), "no strace"))
  func isolated() throws {
    let place = try Place()
    try place.makeCoffer()
    let canary = try place.write("canary", to: "canary")
    let before = try snapshot(place.folder)
    // Outside of the folder that is compared.
    let trace = FileManager.default.temporaryDirectory.appending(path: "tutorial-\(UUID().uuidString).strace")
    defer { try? FileManager.default.removeItem(at: trace) }
    let traced = place.process(
      URL(filePath: "/usr/bin/strace"),
      [
        // A build for coverage writes its profile.
        "-E", "LLVM_PROFILE_FILE=/dev/null",
        "-f", "-qq", "-s", "4096", "-e", "trace=file,network,process", "-e", "signal=none", "-o",
        trace.path(),
        Place.coffer.path, "tutorial", "--play", "--speed", "0",
      ], [:])
    traced.standardInput = FileHandle.nullDevice
    traced.standardOutput = FileHandle.nullDevice
    traced.standardError = FileHandle.nullDevice
    try traced.run()
    traced.waitUntilExit()
    #expect(traced.terminationStatus == 0)
    #expect(try snapshot(place.folder) == before)
    let calls = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n").map(String.init)
    try #require(calls.count > 20)
    // libdispatch asks for threads of a higher priority; what only root gets, it tells the system's log (syslog(3)).
    var logs: Set<Substring> = []
    for call in calls {
      guard let name = call.firstMatch(of: /^\d+ +(\w+)\(/)?.1 else { continue }
      switch name {
      case "openat", "open":
        guard let path = call.firstMatch(of: /"([^"]*)"/)?.1 else {
          // The memory of a command that made itself undumpable is closed to who traces it, but to root.
          #expect(geteuid() != 0 && call.contains("O_RDONLY"), "\(call)")
          continue
        }
        #expect(call.contains("O_RDONLY") || ["/dev/tty", "/dev/null"].contains(path), "\(call)")
        #expect(Self.mayBeOpened(String(path)), "\(call)")
      case "access", "newfstatat", "statx", "stat", "lstat", "readlink", "readlinkat", "getcwd", "statfs":
        #expect(!call.contains(place.folder.path()) && !call.contains(canary), "\(call)")
      case "mkdir": #expect(call.contains("\"/dev\""), "the profile's folder: \(call)")
      // The program itself, started by strace; nothing is started from it.
      case "execve": #expect(call.contains("(\"\(Self.traced(Place.coffer))\""), "\(call)")
      case "clone", "clone3", "exit", "exit_group", "wait4", "set_tid_address", "arch_prctl":
        continue
      case "socket" where geteuid() != 0:
        let made = call.firstMatch(of: /AF_UNIX, SOCK_DGRAM\|SOCK_CLOEXEC, 0\) += (\d+)/)
        if let made { logs.insert(made.1) } else { Issue.record("\(call)") }
      case "connect" where geteuid() != 0, "sendto" where geteuid() != 0:
        let used = call.firstMatch(of: /\((\d+),/)
        #expect(used.map { logs.contains($0.1) } == true, "\(call)")
      default: Issue.record("\(call)")
      }
    }
  }

  /// A path as strace writes it.
  private static func traced(_ file: URL) -> String {
    file.path.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\" + String($0, radix: 8) }.joined()
  }

  /// The loader's, and what libraries read of the machine.
  private static func mayBeOpened(_ path: String) -> Bool {
    let isLibrary = path.hasSuffix(".so") || path.contains(".so.")
    // libcrypto's settings, the stack's bounds, the number of processors, the time zone.
    let known = [
      "/dev/urandom", "/dev/tty", "/dev/null", "/etc/ld.so.cache", "/etc/ld.so.preload",
      "/usr/lib/ssl/openssl.cnf", "/etc/ssl/openssl.cnf", "/proc/self/maps",
      "/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/online", "/etc/localtime",
      "/usr/share/zoneinfo/UTC", "/proc/sys/vm/overcommit_memory", "/proc/sys/crypto/fips_enabled",
      "/sys/fs/cgroup/cpu.max", "/proc/self/cgroup",
    ]
    // The self-test compares digests of the program itself, and looks for a file that is not there.
    let program = Self.traced(Place.coffer.resolvingSymlinksInPath())
    let isProgram = path == program || path == program + "/nothing" || program == path + "/coffer"
    // How much memory there is.
    let isMemory = path == "/proc/meminfo" || path.hasPrefix("/sys/fs/cgroup/memory")
    return isLibrary || isProgram || isMemory || known.contains(path) || path.hasPrefix("/usr/lib/locale/")
  }

  @Test("Without a terminal only --play runs, and options are checked")
  func usage() throws {
    let place = try Place()
    let outcome = try place.run(["tutorial"])
    #expect(outcome.status == 3 && outcome.error.contains("hint: coffer tutorial --play"))
    #expect(try place.run(["tutorial", "--json", "--play"]).status == 2)
    #expect(try place.run(["tutorial", "--chapter", "11"]).status == 2)
    #expect(try place.run(["tutorial", "--speed", "2"]).status == 2)
    let last = try place.run(["tutorial", "--play", "--speed", "0", "--chapter", "9"])
    #expect(last.status == 0 && last.error.isEmpty, "\(last)")
    #expect(last.output.contains("9 of 10") && !last.output.contains("8 of 10"))
  }

  @Test("A line is taken apart as a shell does")
  func words() throws {
    #expect(
      try TutorialLine("coffer encrypt --to 'Bella T' a\\ b \"c 'd'\"").words
        == ["encrypt", "--to", "Bella T", "a b", "c 'd'"])
    #expect(try TutorialLine("  $ coffer  mode ").words == ["mode"])
    #expect(
      try TutorialLine("identity generate --user-id ''").words == ["identity", "generate", "--user-id", ""])
  }
}

extension TutorialTests {
  fileprivate func type(_ line: String, _ command: CommandOnTerminal) throws -> String {
    try type(line, [], command)
  }
}
