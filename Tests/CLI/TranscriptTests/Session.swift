// SPDX-License-Identifier: Apache-2.0
//
// Runs the commands of a transcript in one bash, so that variables and the folder last from line to
// line. Each session has a fresh home, an empty folder to work in, and only the search path of
// the user's own environment. The command under test is the first `coffer` on that path. A session
// that calls `chip` has a TPM; any other has none. One that calls `keys` has security keys in software. Agents that it started end with it.

import AgentLeash
import Foundation

struct Session {
  struct Outcome: Equatable {
    var lines: [String]
    /// Nil when the session ended before this command was run.
    var exitStatus: Int32?
  }

  /// A session that hangs is ended; the longest real one takes a few seconds, and many on a machine with other work.
  static let limitSeconds = 1_800

  let coffer: URL
  /// The folder with the package's own sample data, `$SAMPLES` in a session.
  let samples: URL
  /// Whether keys of passphrases are derived with little work, by a program of the tests that is like the command under
  /// test otherwise.
  var isCheap = false

  func run(_ commands: [String]) throws -> [Outcome] {
    let files = FileManager.default
    // Short: the path of an agent's socket may have 107 bytes.
    let place = files.temporaryDirectory.appending(path: "cs-\(UUID().uuidString.prefix(8))")
    defer { try? files.removeItem(at: place) }
    for folder in ["bin", "work", "home", "steps", "run"] {
      try files.createDirectory(
        at: place.appending(path: folder), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    let leash = try AgentLeash(folder: place.path())
    defer { withExtendedLifetime(leash) {} }
    let chip = Self.wantsChip(commands) ? try Chip(in: place) : nil
    defer { chip?.end() }
    let program = try program(for: commands, in: place)
    for name in ["coffer", "coffer-gpg"] {
      try files.createSymbolicLink(at: place.appending(path: "bin/\(name)"), withDestinationURL: program)
    }

    // Redirected groups, not subshells: what a command sets is still set in the next.
    var script = ""
    for (index, command) in commands.enumerated() {
      try Data(command.utf8).write(to: place.appending(path: "steps/\(index).command"))
      script += """
        { eval "$(<"$STEPS/\(index).command")"; } >"$STEPS/\(index).output" 2>&1 </dev/null
        echo $? >"$STEPS/\(index).status"

        """
    }
    let scriptFile = place.appending(path: "steps/session")
    try Data(script.utf8).write(to: scriptFile)

    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "timeout", "--kill-after=5", "\(Self.limitSeconds)", "bash", "--noprofile", "--norc", scriptFile.path(),
    ]
    process.currentDirectoryURL = place.appending(path: "work")
    process.environment = environment(place: place, tcti: chip?.tcti, commands)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()

    return commands.indices.map { index in
      let output = (try? Data(contentsOf: place.appending(path: "steps/\(index).output"))) ?? Data()
      let status = try? String(contentsOf: place.appending(path: "steps/\(index).status"), encoding: .utf8)
      let lines = String(decoding: output, as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      return Outcome(
        lines: lines.withoutBlankEnds,
        exitStatus: status.flatMap { Int32($0.trimmingCharacters(in: .newlines)) })
    }
  }

  /// Whether a session with these commands needs a TPM.
  static func wantsChip(_ commands: [String]) -> Bool { commands.contains { $0.hasPrefix("chip ") } }

  /// Whether a session with these commands has security keys, which the command `keys` makes and plugs in.
  static func wantsKeys(_ commands: [String]) -> Bool { commands.contains { $0.hasPrefix("keys ") } }

  /// The command under test, or the one of the tests that has keys, cheap ones of passphrases or those of a session.
  private func program(for commands: [String], in place: URL) throws -> URL {
    let program = coffer.resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "coffer-with-keys")
    guard Self.wantsKeys(commands) else { return isCheap ? program : coffer }
    let command = "#!/bin/bash\nexec '\(program.path)' --keys \"$@\"\n"
    let file = place.appending(path: "bin/keys")
    try Data(command.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path())
    return program
  }

  private func environment(place: URL, tcti: String?, _ commands: [String]) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    let home = place.appending(path: "home").path()
    var chosen: [String: String] = [:]
    if Self.wantsKeys(commands) { chosen["KEYS"] = place.appending(path: "keys").path() }
    if isCheap { chosen["CHEAP_DERIVATION"] = "1" }
    return [
      "PATH": place.appending(path: "bin").path() + ":" + (own["PATH"] ?? "/usr/bin:/bin"),
      "HOME": home,
      "XDG_DATA_HOME": home + "/data",
      "XDG_RUNTIME_DIR": place.appending(path: "run").path(),
      // Without one of its own a session must not find that of the machine.
      "COFFER_TCTI": tcti ?? "swtpm:path=\(home)/no-chip",
      "COFFER_HOME": home + "/coffer",
      "SAMPLES": samples.path,
      "STEPS": place.appending(path: "steps").path(),
      "LC_ALL": "C.UTF-8",
      "TZ": "UTC",
      "TERM": "dumb",
      // A build with coverage writes its profile where the tests do, or nowhere.
      "LLVM_PROFILE_FILE": own["LLVM_PROFILE_FILE"] ?? "/dev/null",
    ].merging(own.filter { $0.key == "LD_LIBRARY_PATH" }) { mine, _ in mine }.merging(chosen) { $1 }
  }
}
