// SPDX-License-Identifier: Apache-2.0
//
// The work is dealt out to several processes: the calls of the C library are taken over for one disk a process. Each
// takes the next piece of work from a pipe that all of them have, until it is empty. A process prints a line for each
// piece and one for each finding.

import CrashDisk
import Foundation
import Glibc

/// A table that several processes make.
enum TableParts {
  /// An operation, or a part of it where there are few: with its preparation it costs more in parts than whole.
  private struct Piece {
    var operation: UInt16
    var part: UInt16

    static let byteCount = MemoryLayout<Piece>.size
  }

  private static func parts(_ options: TableOptions) -> Int {
    options.scenarios.count < 4 * options.jobs ? options.jobs : 1
  }

  /// The last operations take the longest, and come first.
  private static func pieces(_ options: TableOptions) -> [Piece] {
    options.scenarios.indices.reversed().flatMap { operation in
      (0..<parts(options)).map { Piece(operation: UInt16(operation), part: UInt16($0)) }
    }
  }

  /// Does one piece after the other in this process, and prints what it was.
  static func run(_ options: TableOptions) throws {
    RecordedDisk.endWithParent()
    let disk = try RecordedDisk()
    var piece = Piece(operation: 0, part: 0)
    while true {
      // A piece is written in one call, so it is read whole.
      let count = withUnsafeMutableBytes(of: &piece) { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count == 0 { return }
      guard count == Piece.byteCount else { throw DiskError("read", errno) }
      var extent = options.extent
      (extent.part, extent.parts) = (Int(piece.part), parts(options))
      let enumeration = CrashEnumeration(disk, extent: extent) { print($0) }
      // New for each piece: a scenario is prepared once.
      let scenario = options.scenarios[Int(piece.operation)]
      print(try enumeration.run(scenario).line)
    }
  }

  /// Runs all parts side by side.
  /// - Returns: their sums, in the order of the operations, and the other lines.
  static func all(_ options: TableOptions) throws -> (tallies: [CrashTally], lines: [String]) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "crash-table-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw DiskError("pipe", errno) }
    // Else a part would wait for the end that it has itself.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var running: [(process: Process, output: URL)] = []
    for part in 1...options.jobs {
      let output = folder.appending(path: "\(part)")
      guard FileManager.default.createFile(atPath: output.path, contents: nil) else {
        throw DiskError("the output of a part cannot be written")
      }
      let process = Process()
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      process.arguments = options.wordsOfPart
      process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false)
      process.standardOutput = try FileHandle(forWritingTo: output)
      try process.run()
      running.append((process, output))
    }
    close(ends[0])
    deal(pieces(options), ends[1])
    for (process, _) in running { process.waitUntilExit() }
    guard running.allSatisfy({ $0.process.terminationStatus == 0 }) else {
      throw DiskError("a part did not come to its end")
    }
    let outputs = try running.map { String(decoding: try Data(contentsOf: $0.output), as: UTF8.self) }
    return sum(outputs, of: options.scenarios)
  }

  /// Whoever is free takes the next.
  private static func deal(_ pieces: [Piece], _ pipe: Int32) {
    defer { close(pipe) }
    // Parts that have failed read no more, and say so by their status.
    signal(SIGPIPE, SIG_IGN)
    for piece in pieces {
      let count = withUnsafeBytes(of: piece) { write(pipe, $0.baseAddress, $0.count) }
      guard count == Piece.byteCount else { return }
    }
  }

  private static func sum(
    _ outputs: [String], of scenarios: [any CrashScenario]
  ) -> (tallies: [CrashTally], lines: [String]) {
    var tallies = scenarios.map { CrashTally(store: $0.store, operation: $0.operation) }
    var lines: [String] = []
    for line in outputs.flatMap({ $0.split(separator: "\n") }) {
      let tally = CrashTally(line: line)
      let index = tally.flatMap { tally in
        tallies.firstIndex { $0.store == tally.store && $0.operation == tally.operation }
      }
      if let tally, let index { tallies[index].add(tally) } else { lines.append(String(line)) }
    }
    return (tallies, lines)
  }
}
