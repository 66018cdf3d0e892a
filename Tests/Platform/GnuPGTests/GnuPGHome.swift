// SPDX-License-Identifier: Apache-2.0
//
// A folder of keys of a real gpg, and programs that stand in for it. Its agent ends with it.

import Foundation

final class GnuPGHome: Sendable {
  /// Short, since the path of the agent's socket is.
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "gh-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    _ = try? shell("gpgconf --kill all")
    try? FileManager.default.removeItem(at: folder)
  }

  var path: String { folder.path() }

  /// Runs lines of bash with this home.
  @discardableResult
  func shell(_ script: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script]
    process.environment = ProcessInfo.processInfo.environment.merging(["GNUPGHOME": path]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// Makes a key that signs, with a subkey for encryption.
  /// - Returns: its fingerprint, in lower case.
  func makeKey(_ userID: String, passphrase: String = "") throws -> String {
    try shell(
      """
      gpg --batch --pinentry-mode loopback --passphrase '\(passphrase)' --quick-gen-key '\(userID)' ed25519 sign never
      key=$(gpg --batch --with-colons --list-secret-keys '=\(userID)' | awk -F: '$1 == "fpr" { print $10; exit }')
      gpg --batch --pinentry-mode loopback --passphrase '\(passphrase)' --quick-add-key $key cv25519 encr never
      echo $key
      """
    ).lowercased()
  }

  /// A program that stands in for gpg. Made by another process: one that this process had open for writing could be
  /// "busy" for a moment.
  func program(_ script: String) throws -> String {
    let text = folder.appending(path: "text-\(UUID().uuidString)")
    try Data("#!/bin/bash\n\(script)\n".utf8).write(to: text)
    let program = text.path().replacing("text-", with: "program-")
    try shell("install -m 700 '\(text.path())' '\(program)'")
    return program
  }
}
