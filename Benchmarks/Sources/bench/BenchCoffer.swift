// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A coffer in a directory of its own, used through the release command.
struct BenchCoffer {
  struct Unexpected: Error {
    let exitCode: Int32
  }

  /// COFFER_BINARY, else what scripts/build has left.
  static let binary =
    ProcessInfo.processInfo.environment["COFFER_BINARY"]
    ?? URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../.build/coffer")
    .standardizedFileURL.path

  let directory: String
  var home: String { directory + "/home" }
  static let passphrase = "Seven-Herons-Cross-The-Fjord-2026"
  var passphraseFile: String { directory + "/passphrase" }
  /// What its commands find in their environment; agents of other coffers are not there.
  let environment: [String: String]

  /// - Parameter tcti: the chip of the machine; none unless named.
  init(kdf: String = "argon2id", tcti: String? = nil) throws {
    directory =
      FileManager.default.temporaryDirectory.appending(path: "coffer-bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var environment = ["COFFER_HOME": directory + "/home", "XDG_RUNTIME_DIR": directory]
    if let tcti { environment["COFFER_TCTI"] = tcti }
    self.environment = environment
    try Data("\(Self.passphrase)\n".utf8).write(to: URL(filePath: passphraseFile))
    _ = try coffer(["init", "--kdf", kdf, "--recovery-phrase-out", directory + "/words"])
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }

  /// Runs a command on this coffer, opened with the passphrase.
  @discardableResult
  func coffer(_ arguments: [String], expecting exitCode: Int32 = 0) throws -> Command.Run {
    try plain(arguments + ["--passphrase-file", passphraseFile], expecting: exitCode)
  }

  /// Runs a command on this coffer with nothing but what its agent has.
  @discardableResult
  func plain(_ arguments: [String], expecting exitCode: Int32 = 0) throws -> Command.Run {
    let run = try Command.run([Self.binary] + arguments, environment: environment)
    guard run.exitCode == exitCode else { throw Unexpected(exitCode: run.exitCode) }
    return run
  }

  /// The first 36 characters that a command on this coffer prints: the id of what it tells of.
  func firstID(_ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: Self.binary)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return String(text.prefix(36))
  }
}
