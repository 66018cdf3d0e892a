// SPDX-License-Identifier: Apache-2.0
//
// Stops requests to a folder of objects at every call that changes the disk, and prints what that leaves. With
// --guilty the folder forgets something, which must be found. The exit status is 1 if anything was found.

import CrashDisk
import Glibc

/// Findings that are printed.
let findingLimit = 20

func run(_ arguments: [String]) throws -> Int32 {
  var extent = CrashEnumeration.Extent()
  let scenarios: [any CrashScenario]
  switch arguments.first {
  case nil: scenarios = RemoteOperation.all
  case "--guilty" where arguments.count == 1: scenarios = [UnflushedFolders()]
  case "--share":
    // From 1, of how many.
    let numbers = arguments.dropFirst().joined().split(separator: "/").compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] > 0, (1...numbers[1]).contains(numbers[0]) else { fallthrough }
    (extent.share, extent.shares) = (numbers[0] - 1, numbers[1])
    scenarios = RemoteOperation.all
  default:
    print("Usage: crash-remotes [--guilty | --share K/N]")
    return 2
  }
  var findings: [String] = []
  let enumeration = CrashEnumeration(try RecordedDisk(), extent: extent) {
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
