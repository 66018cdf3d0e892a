// SPDX-License-Identifier: Apache-2.0
//
// Prints what crashes at every call, and at every call of the recovery after that, leave of a coffer.

import CrashDisk
import Foundation
import Glibc
import Logging

/// Findings that are printed; a store with one mistake may give thousands.
let findingLimit = 20

func run(_ options: TableOptions) throws -> Int32 {
  if options.calls != nil {
    let enumeration = CrashEnumeration(try RecordedDisk(), extent: options.extent) { print($0) }
    guard options.scenarios.count == 1, let scenario = options.scenarios.first else {
      throw TableOptions.Misuse()
    }
    for line in try enumeration.calls(scenario) { print(line) }
    return 0
  }
  if options.isPart {
    try TableParts.run(options)
    return 0
  }
  let start = ContinuousClock.now
  let (tallies, lines) = try TableParts.all(options)
  // Places that were asked for, and findings.
  let (places, findings) = (lines.filter { $0.hasPrefix("PLAYED") }, lines.filter { !$0.hasPrefix("PLAYED") })
  let duration = ContinuousClock.now - start
  let table = Table(tallies: tallies, seconds: duration / .seconds(1))
  print(table)
  for place in places { print(place) }
  for finding in findings.prefix(findingLimit) { print(finding) }
  if findings.count > findingLimit { print("and \(findings.count - findingLimit) more") }
  if options.isGuilty { return table.isGuilty ? 1 : 0 }
  return table.isGood ? 0 : 1
}

LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
do {
  exit(try run(try TableOptions(Array(CommandLine.arguments.dropFirst()))))
} catch is TableOptions.Misuse {
  print(TableOptions.usage)
  exit(2)
} catch {
  print("crash-table: \(error)")
  exit(3)
}
