// SPDX-License-Identifier: Apache-2.0
//
// Runs a script of the package, for tests of what it says.

import Foundation
import Repository

/// How a script ended, and all that it printed.
typealias ScriptOutcome = (status: Int32, output: String)

/// Runs `scripts/NAME` to its end; standard error goes where standard output goes.
func runScript(_ name: String, _ arguments: [String]) throws -> ScriptOutcome {
  let process = Process()
  process.executableURL = Repository.root.appending(path: "scripts/\(name)")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  try process.run()
  let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: output, as: UTF8.self))
}
