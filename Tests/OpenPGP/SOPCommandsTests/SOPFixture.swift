// SPDX-License-Identifier: Apache-2.0
//
// The built command, run in a throw-away folder.

import Foundation
import Testing

/// A folder for one test, with keys in it, and the command.
final class SOPFixture: Sendable {
  static let command: URL = {
    if let path = ProcessInfo.processInfo.environment["COFFER_SOP_BINARY"] { return URL(filePath: path) }
    return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "coffer-sop")
  }()

  struct Outcome: Sendable {
    let exit: Int32
    let output: [UInt8]
    let error: String

    var text: String { String(decoding: output, as: UTF8.self) }
  }

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "coffer-sop-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  func contents(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }

  func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: name).path())
  }

  /// A secret key and its certificate, as `name`.key and `name`.cert.
  func makeKey(_ name: String, _ options: [String] = [], userID: String = "Alice <alice@example.org>") throws
  {
    let key = try run(["generate-key"] + options + [userID])
    #expect(key.exit == 0, "\(key.error)")
    try write(key.output, to: "\(name).key")
    let certificate = try run(["extract-cert"], input: key.output)
    #expect(certificate.exit == 0, "\(certificate.error)")
    try write(certificate.output, to: "\(name).cert")
  }

  func run(
    _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
  ) throws -> Outcome {
    try run(Self.command, arguments, input, environment)
  }

  func run(_ arguments: [String], input: String) throws -> Outcome {
    try run(arguments, input: Array(input.utf8))
  }

  /// Runs a line of the shell, in which `$SOP` is the command: for descriptors beyond the standard ones.
  func shell(_ line: String, input: [UInt8] = []) throws -> Outcome {
    // The path of the command may have blanks: $SOP is one word.
    try run(URL(filePath: "/bin/sh"), ["-c", "IFS='\n'\n" + line], input, ["SOP": Self.command.path])
  }

  /// Runs the command in another folder, with a file there as its input.
  func run(_ arguments: [String], inputFile: URL?, in folder: URL) throws -> Outcome {
    let input = try inputFile.map { [UInt8](try Data(contentsOf: $0)) } ?? []
    return try run(Self.command, arguments, input, [:], in: folder)
  }

  private func run(
    _ program: URL, _ arguments: [String], _ input: [UInt8], _ environment: [String: String],
    in otherFolder: URL? = nil
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = otherFolder ?? folder
    let own = ProcessInfo.processInfo.environment
    process.environment = [
      "PATH": own["PATH"] ?? "/usr/bin:/bin", "LLVM_PROFILE_FILE": own["LLVM_PROFILE_FILE"] ?? "/dev/null",
    ].merging(own.filter { $0.key == "LD_LIBRARY_PATH" }) { mine, _ in mine }
      .merging(environment) { _, given in given }
    let streams = try ["in", "out", "err"].map { _ in try TemporaryStream() }
    try streams[0].handle.write(contentsOf: Data(input))
    try streams[0].handle.seek(toOffset: 0)
    process.standardInput = streams[0].handle
    process.standardOutput = streams[1].handle
    process.standardError = streams[2].handle
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit, "the command was ended by a signal")
    return Outcome(
      exit: process.terminationStatus, output: try streams[1].contents(),
      error: String(decoding: try streams[2].contents(), as: UTF8.self))
  }
}

/// A file in place of a pipe: nobody has to read it while the process runs.
private final class TemporaryStream {
  let handle: FileHandle
  private let fixture: URL

  init() throws {
    fixture = FileManager.default.temporaryDirectory.appending(path: "coffer-sop-stream-\(UUID().uuidString)")
    try Data().write(to: fixture)
    handle = try FileHandle(forUpdating: fixture)
  }

  deinit { try? FileManager.default.removeItem(at: fixture) }

  func contents() throws -> [UInt8] { [UInt8](try Data(contentsOf: fixture)) }
}
