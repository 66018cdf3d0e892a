// SPDX-License-Identifier: Apache-2.0
//
// Stops requests to a folder of objects at every call that changes the disk, and prints what that leaves. With
// --guilty the folder forgets something, which must be found. The exit status is 1 if anything was found.

import CrashDisk
import Glibc

/// Findings that are printed.
let findingLimit = 20

func run(_ arguments: [String]) throws -> Int32 {
  let scenarios: [any CrashScenario]
  switch arguments {
  case []: scenarios = RemoteOperation.all
  case ["--guilty"]: scenarios = [UnflushedFolders()]
  default:
    print("Usage: crash-remotes [--guilty]")
    return 2
  }
  var findings: [String] = []
  let enumeration = CrashEnumeration(try RecordedDisk(), extent: CrashEnumeration.Extent()) {
    findings.append($0)
  }
  for scenario in scenarios { print(try enumeration.run(scenario).line) }
  for finding in findings.prefix(findingLimit) { print(finding) }
  return findings.isEmpty ? 0 : 1
}

do {
  exit(try run(Array(CommandLine.arguments.dropFirst())))
} catch {
  print("crash-remotes: \(error)")
  exit(3)
}
