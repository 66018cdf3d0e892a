// SPDX-License-Identifier: Apache-2.0
//
// Command lines that a process runs one after the other, without a process for each: what is run thousands of times takes
// a tenth of the time. A crash ends that process; the next command line has a new one.

import Foundation
import Glibc
import Synchronization

/// A process of `coffer-with-keys --lines`.
final class CofferWorker: Sendable {
  private struct Child {
    let process: Process
    let input: FileHandle
    let output: FileHandle
  }

  private let streams: String
  private let environment: [String: String]
  private let child = Mutex<Child?>(nil)

  /// - Parameters:
  ///   - streams: a folder of its own for what the commands write.
  ///   - environment: what the commands see beside the usual.
  init(streams: String, environment: [String]) {
    self.streams = streams
    self.environment = Dictionary(
      uniqueKeysWithValues: (CofferRun.environment + environment).map { setting in
        let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      })
  }

  deinit {
    guard let child = child.withLock({ $0 }) else { return }
    try? child.input.close()
    child.process.waitUntilExit()
  }

  /// Runs one command line to its end.
  func run(_ arguments: [String]) throws -> CofferRun {
    let start = ContinuousClock.now
    let end = try child.withLock { child -> CofferRun.End in
      let running = try child ?? self.start()
      child = running
      try running.input.write(contentsOf: JSONEncoder().encode(arguments) + Data("\n".utf8))
      let isHung = !Self.hasAnswer(running)
      if isHung { kill(running.process.processIdentifier, SIGKILL) }
      if let status = try Self.answer(running) { return .exited(status) }
      running.process.waitUntilExit()
      child = nil
      return isHung ? .hung : .killed(running.process.terminationStatus)
    }
    return CofferRun(
      arguments: arguments, end: end, output: try Data(contentsOf: URL(filePath: streams + "/output")),
      errors: try String(contentsOfFile: streams + "/errors", encoding: .utf8), peakKiB: 0,
      seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  private func start() throws -> Child {
    let (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "coffer-with-keys")
    process.arguments = ["--lines", streams]
    process.environment = environment
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    return Child(process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading)
  }

  /// Waits for an answer or an end; whether one came.
  private static func hasAnswer(_ child: Child) -> Bool {
    var polled = pollfd(fd: child.output.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&polled, 1, Int32(CofferRun.limitSeconds * 1_000))
      if count >= 0 || errno != EINTR { return count > 0 }
    }
  }

  /// The exit code; nil when the process has ended without one.
  private static func answer(_ child: Child) throws -> Int32? {
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      guard let byte = try child.output.read(upToCount: 1), !byte.isEmpty else { return nil }
      line += byte
    }
    return Int32(String(decoding: line.dropLast(), as: UTF8.self))
  }
}
