// SPDX-License-Identifier: Apache-2.0
//
// The work is dealt out to several processes: the calls of the C library are taken over for one disk a process.
// A part prints a line for each operation and one for each finding.

import CrashDisk
import Foundation

/// A table that several processes make.
enum TableParts {
  /// Does one part in this process, and prints it.
  static func run(_ options: TableOptions) throws {
    RecordedDisk.endWithParent()
    let disk = try RecordedDisk()
    let enumeration = CrashEnumeration(disk, extent: options.extent) { print($0) }
    for scenario in options.scenarios {
      print(try enumeration.run(scenario).line)
    }
  }

  /// Runs all parts side by side.
  /// - Returns: their sums, in order, and the findings.
  static func all(_ options: TableOptions) throws -> (tallies: [CrashTally], findings: [String]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crash-table-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var running: [(process: Process, output: URL)] = []
    for part in 1...options.jobs {
      let output = folder.appending(path: "\(part)")
      guard FileManager.default.createFile(atPath: output.path, contents: nil) else {
        throw DiskError("the output of a part cannot be written")
      }
      let process = Process()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = options.words(part: part)
      process.standardOutput = try FileHandle(forWritingTo: output)
      try process.run()
      running.append((process, output))
    }
    for (process, _) in running { process.waitUntilExit() }
    guard running.allSatisfy({ $0.process.terminationStatus == 0 }) else {
      throw DiskError("a part did not come to its end")
    }
    return try sum(running.map { String(decoding: try Data(contentsOf: $0.output), as: UTF8.self) })
  }

  private static func sum(_ outputs: [String]) -> (tallies: [CrashTally], findings: [String]) {
    var tallies: [CrashTally] = []
    var findings: [String] = []
    for line in outputs.flatMap({ $0.split(separator: "\n") }) {
      guard let tally = CrashTally(line: line) else {
        findings.append(String(line))
        continue
      }
      let index = tallies.firstIndex { $0.store == tally.store && $0.operation == tally.operation }
      if let index { tallies[index].add(tally) } else { tallies.append(tally) }
    }
    return (tallies, findings)
  }
}
