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
  private var passphraseFile: String { directory + "/passphrase" }

  init(kdf: String = "argon2id") throws {
    directory =
      FileManager.default.temporaryDirectory.appending(path: "coffer-bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Data("Seven-Herons-Cross-The-Fjord-2026\n".utf8).write(to: URL(filePath: passphraseFile))
    _ = try coffer(["init", "--kdf", kdf, "--recovery-phrase-out", directory + "/words"])
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }

  /// Runs a command on this coffer.
  @discardableResult
  func coffer(_ arguments: [String], expecting exitCode: Int32 = 0) throws -> Command.Run {
    let run = try Command.run(
      [Self.binary] + arguments + ["--passphrase-file", passphraseFile], environment: ["COFFER_HOME": home])
    guard run.exitCode == exitCode else { throw Unexpected(exitCode: run.exitCode) }
    return run
  }
}
