// SPDX-License-Identifier: Apache-2.0
//
// Commands in a throw-away folder: in the process of the test, as a process with pipes, or on a terminal of their own.

import CofferCommands
import CofferKit
import CommandRuns
import Enclaves
import Foundation
import GRDBSQLite
import Keychains
import Primitives
import PseudoTerminals
import Secrets
import Testing

/// A folder for one test: a coffer's home, files beside it, and ways to run the command there.
final class Place: Sendable {
  static let passphrase = "Seven-Herons-Cross-The-Fjord-2026"

  static let coffer: URL = {
    if let path = ProcessInfo.processInfo.environment["COFFER_BINARY"] { return URL(filePath: path) }
    return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "coffer")
  }()

  /// The command with security keys in software, which are in the folder "keys".
  static let withKeys = coffer.resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "coffer-with-keys")

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "coffer-command-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var home: URL { folder.appending(path: "coffer") }

  /// Whether there is anything where the coffer should be.
  var hasCoffer: Bool { FileManager.default.fileExists(atPath: home.path()) }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let file = folder.appending(path: name)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path())
    return file.path()
  }

  /// A coffer that opens with `passphrase`, which is also in the file "pass"; its words are in the file "words". To derive
  /// its key costs microseconds.
  func makeCoffer() throws {
    try write(Self.passphrase + "\n", to: "pass")
    let phrase = RecoveryPhrase(
      entropy: SystemRandom.secretBytes(count: RecoveryPhrase.entropyByteCount))
    try phrase.withWords { words in
      _ = try words.withUnsafeBytes { try write(String(decoding: $0, as: UTF8.self), to: "words") }
    }
    let passphrase = try Passphrase(
      utf8: SecretBytes(copying: Array(Self.passphrase.utf8).span.bytes))
    try Coffer.create(
      home: home.path(), passphrase: passphrase, recoveryPhrase: phrase,
      kdf: CommandRuns.cheapDerivation,
      machine: Machine(enclaves: [SoftwareEnclave()])
    ).close()
  }

  /// Damages as many messages as that, the oldest first.
  func damageMessages(_ count: Int) throws {
    var database: OpaquePointer?
    try #require(sqlite3_open(home.path() + "/coffer.db", &database) == SQLITE_OK)
    defer { sqlite3_close(database) }
    let change = "UPDATE messages SET sealed = zeroblob(length(sealed)) WHERE number <= \(count)"
    try #require(sqlite3_exec(database, change, nil, nil, nil) == SQLITE_OK)
  }

  struct Outcome: Sendable {
    var status: Int32
    var output: String
    var error: String
  }

  /// Whether commands run as processes alone: another program was named, or no thread can have a folder of its own.
  static let needsProcesses =
    ProcessInfo.processInfo.environment["COFFER_BINARY"] != nil || !CommandRuns.haveFolders

  /// Runs a command line without a terminal, to its end, in this process. What is about processes (signals, pipes,
  /// descriptors, programs that are started, the zone of local times) wants ``runProcess(_:input:environment:program:)``.
  func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    change: (inout RunEnvironment) -> Void = { _ in }
  ) throws -> Outcome {
    if Self.needsProcesses { return try runProcess(arguments, input: input, environment: environment) }
    let outcome = try CommandRuns.run(
      arguments, variables: variables(environment), input: Array(input.utf8), folder: folder.path,
      executable: Self.coffer.path, change: change)
    return Outcome(status: outcome.status, output: outcome.text, error: outcome.errorText)
  }

  /// Runs the command without a terminal, to its end, as a process of its own.
  func runProcess(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    program: URL = Place.coffer
  ) throws -> Outcome {
    let process = process(program, arguments, environment)
    let (stdin, stdout) = (Pipe(), Pipe())
    let errors = folder.appending(path: "errors-\(UUID().uuidString)")
    try Data().write(to: errors)
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
      error: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  func process(_ program: URL, _ arguments: [String], _ environment: [String: String]) -> Process {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = variables(environment)
    return process
  }

  /// The environment of a command; nothing of it is the user's.
  private func variables(_ environment: [String: String]) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    return [
      "PATH": own["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path(), "COFFER_HOME": home.path(),
      "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color",
      "KEYS": folder.path() + "/keys",
      // No chip, whatever this machine has.
      "COFFER_TCTI": "swtpm:path=/nonexistent",
      "LLVM_PROFILE_FILE": own["LLVM_PROFILE_FILE"] ?? "/dev/null",
    ].merging(own.filter { $0.key == "LD_LIBRARY_PATH" }) { mine, _ in mine }
      .merging(environment) { _, given in given }
  }
}

/// The command on its own terminal, with a test that types as the user would.
final class CommandOnTerminal {
  let terminal: PseudoTerminal
  private let process: Process

  /// - Parameters:
  ///   - errors: a file for standard error; nil for the terminal.
  ///   - program: what is run.
  init(
    _ arguments: [String], in place: Place, environment: [String: String] = [:], columns: UInt16 = 80,
    errors: URL? = nil, program: URL = Place.coffer
  ) throws {
    terminal = try PseudoTerminal(columns: columns)
    // A new session is what may have a terminal of its own, so that /dev/tty is the test's.
    // The threads of tests block signals, and what they start would inherit that.
    let unblocked =
      "sigprocmask(SIG_SETMASK, POSIX::SigSet->new); $SIG{$_} = 'DEFAULT' for qw(HUP INT TERM); exec @ARGV"
    process = place.process(
      URL(filePath: "/usr/bin/setsid"),
      ["--ctty", "--wait", "/usr/bin/perl", "-MPOSIX", "-e", unblocked, program.path] + arguments,
      environment)
    let device = FileHandle(fileDescriptor: terminal.device, closeOnDealloc: false)
    process.standardInput = device
    process.standardOutput = device
    process.standardError = device
    if let errors {
      try Data().write(to: errors)
      process.standardError = try FileHandle(forWritingTo: errors)
    }
    try process.run()
  }

  /// Waits for `prompt`, then types `answer` and Return; returns what was shown before.
  @discardableResult
  func answer(_ prompt: String, _ answer: String) throws -> String {
    let shown = try terminal.expect(prompt)
    terminal.type(answer + "\r")
    try terminal.expect("\n")
    return shown
  }

  /// Says no to the session that the first command of a terminal offers.
  func declineSession() throws { try answer("without a command? [y/N]: ", "n") }

  /// Takes the passphrase that is offered, and types it.
  func takeOffered() throws -> String {
    try terminal.expect("A passphrase made for you:\r\n\r\n    ")
    let passphrase = try terminal.expect("\r\n").trimmingCharacters(in: .whitespacesAndNewlines)
    try answer("to choose your own: ", "y")
    try answer("to show that you have it: ", passphrase)
    return passphrase
  }

  /// Sends a signal to the command itself.
  func send(_ signal: Int32) throws {
    let started = process.processIdentifier
    let children = try String(contentsOfFile: "/proc/\(started)/task/\(started)/children", encoding: .utf8)
    guard let command = children.split(separator: " ").first.flatMap({ Int32($0) }) else {
      throw PseudoTerminal.Failure("the command has ended")
    }
    kill(command, signal)
  }

  /// The exit code, once it has ended, and what is left on the screen.
  func end() -> (status: Int32, shown: String) {
    process.waitUntilExit()
    return (process.terminationStatus, terminal.rest())
  }
}
