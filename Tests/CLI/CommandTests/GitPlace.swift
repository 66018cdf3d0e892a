// SPDX-License-Identifier: Apache-2.0
//
// A coffer, a repository, and git and gpg that see nothing of the user's own.

import AgentLeash
import Foundation
import PseudoTerminals

/// A folder with a coffer and an empty repository `work` that is signed with `coffer-gpg`.
final class GitPlace: Sendable {
  let place: Place
  /// Short, since the paths of the agents' sockets are: of Coffer's agent, and of gpg's.
  let runtime: URL
  private let leash: AgentLeash

  init() throws {
    place = try Place()
    leash = try AgentLeash(folder: place.folder.path())
    runtime = FileManager.default.temporaryDirectory.appending(path: "gp-\(UUID().uuidString.prefix(8))")
    for folder in [runtime, runtime.appending(path: "gnupg"), place.folder.appending(path: "bin")] {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    for name in ["coffer", "coffer-gpg"] {
      try FileManager.default.createSymbolicLink(
        at: place.folder.appending(path: "bin/\(name)"), withDestinationURL: Place.coffer)
    }
    try place.write(
      """
      [user]
        name = Ada Lovelace
        email = ada@example.org
      [gpg]
        program = coffer-gpg
      [init]
        defaultBranch = main
      [gc]
        auto = 0
      [maintenance]
        auto = false
      """, to: "gitconfig")
    try place.makeCoffer()
    try shell("git init --quiet work")
  }

  deinit {
    _ = try? shell("gpgconf --kill all; coffer lock --all --quiet")
    try? FileManager.default.removeItem(at: runtime)
  }

  var environment: [String: String] {
    let own = ProcessInfo.processInfo.environment
    return [
      "PATH": place.folder.path() + "/bin:" + (own["PATH"] ?? "/usr/bin:/bin"),
      "XDG_RUNTIME_DIR": runtime.path(), "GNUPGHOME": runtime.path() + "/gnupg",
      "GIT_CONFIG_GLOBAL": place.folder.path() + "/gitconfig", "GIT_CONFIG_NOSYSTEM": "1",
      "P": "--passphrase-file \(place.folder.path())/pass", "PLACE": place.folder.path(), "GIT_PAGER": "cat",
    ]
  }

  /// Runs lines of bash in the repository, without a terminal; in the folder of the place before there is one.
  @discardableResult
  func shell(_ script: String, environment more: [String: String] = [:]) throws -> Place.Outcome {
    let process = place.process(
      URL(filePath: "/usr/bin/setsid"), ["--wait", "/bin/bash", "-c", script],
      environment.merging(more) { _, given in given })
    let work = place.folder.appending(path: "work")
    if FileManager.default.fileExists(atPath: work.path()) { process.currentDirectoryURL = work }
    let output = Pipe()
    let errors = place.folder.appending(path: "errors-\(UUID().uuidString)")
    try Data().write(to: errors)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Place.Outcome(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      error: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
  }

  /// The same, where anything but success ends the test.
  @discardableResult
  func must(_ script: String, environment more: [String: String] = [:]) throws -> String {
    let outcome = try shell("set -e\n" + script, environment: more)
    guard outcome.status == 0 else {
      throw PseudoTerminal.Failure("\(script): \(outcome.status)\n\(outcome.output)\n\(outcome.error)")
    }
    return outcome.output.trimmingCharacters(in: .newlines)
  }

  /// Makes an identity.
  /// - Returns: its fingerprint, in lower case.
  func identity(_ userID: String, profile: String = "universal") throws -> String {
    try must("coffer identity generate $P --quiet --profile \(profile) --user-id '\(userID)'")
  }

  /// Makes a key in gpg's home.
  /// - Returns: its fingerprint, in upper case.
  func gpgKey(_ userID: String, _ options: String = "", until: String = "never") throws -> String {
    try must(
      """
      gpg --batch --passphrase '' \(options) --quick-gen-key '\(userID)' ed25519 sign \(until) 2>/dev/null
      gpg --batch --with-colons --list-secret-keys '=\(userID)' | awk -F: '$1 == "fpr" { print $10; exit }'
      """)
  }

  /// A pinentry that counts how often it is asked, and always knows the passphrase.
  func pinentry() throws -> [String: String] {
    let text = try place.write(
      """
      #!/bin/bash
      echo "OK ready"
      while read -r line; do
        echo "$line" >>"$PLACE/told"
        case $line in
          GETPIN) printf 'D \(Place.passphrase)\\nOK\\n' ;;
          BYE) echo OK; exit ;;
          *) echo OK ;;
        esac
      done
      """, to: "pinentry.text")
    let program = text.replacing("pinentry.text", with: "pinentry")
    try must("install -m 700 '\(text)' '\(program)'")
    return ["COFFER_PINENTRY": program]
  }

  /// What that pinentry was told.
  var told: [String] {
    let text = try? String(contentsOf: place.folder.appending(path: "told"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }
}
