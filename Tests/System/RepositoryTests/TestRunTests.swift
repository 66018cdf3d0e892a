// SPDX-License-Identifier: Apache-2.0
//
// `scripts/test-run` runs the tests in several processes. A process that fails, or does not come to its end, must not pass
// for a good one; the program of tests here is a shell script.

import Foundation
import Repository
import Testing

@Suite("The run of the tests")
struct TestRunTests {
  /// Stands for the program of all tests: does what its filter says.
  private static let program = #"""
    #!/bin/bash
    while (($#)); do
      case $1 in
        --event-stream-output-path) events=$2 ;;
        --filter) filter=$2 ;;
      esac
      shift
    done
    echo "$COFFER_EXTENT $filter" >"$events"
    case $filter in
      bad) echo "✘ Test \"It adds\" failed after 0.1 seconds"; exit 1 ;;
      killed) echo "before the end"; kill -KILL $$ ;;
      hung) exec sleep 1000 ;;
      mute) rm "$events"; exec sleep 1000 ;;
      silent) exit 0 ;;
      none) echo "Test run with 0 tests in 0 suites passed"; exit 69 ;;
    esac
    echo "✔ Test run with 2 tests in 1 suite passed after 0.1 seconds."
    """#

  private func run(_ units: [[String]], _ words: String = "") throws -> (
    status: Int32, lines: [String], times: [String], events: [String]
  ) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "run of ä \(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appending(path: "program")
    try Data(Self.program.utf8).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
    let list = folder.appending(path: "units")
    try Data(units.map { $0.joined(separator: "\t") + "\n" }.joined().utf8).write(to: list)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      "cd '\(Repository.root.path)' && \(words) scripts/test-run \"$0/program\" \"$0\" <\"$0/units\" 2>&1",
      folder.path,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    func read(_ name: String) -> [String] {
      let bytes = (try? Data(contentsOf: folder.appending(path: name))) ?? Data()
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    return (
      process.terminationStatus, text.split(separator: "\n").map(String.init), read("times"),
      units.flatMap { read("\($0[0]).events") }
    )
  }

  @Test("Each process has a line and a time, and gets its extent and its choice")
  func good() throws {
    let outcome = try run((1...5).map { ["Some\($0)", "quick", "--filter", "word \($0)"] })
    #expect(outcome.status == 0)
    #expect(outcome.lines.count { $0.hasPrefix("ok ") && $0.contains("2 tests") } == 5, "\(outcome.lines)")
    #expect(outcome.times.count == 5 && outcome.times.allSatisfy { $0.hasSuffix(" 2") }, "\(outcome.times)")
    #expect(outcome.events == (1...5).map { "quick word \($0)" })
  }

  @Test("One without tests fails the run, unless it may be without")
  func empty() throws {
    let allowed = try run([["?Some", "quick", "--filter", "none"]])
    #expect(allowed.status == 0 && allowed.lines.contains { $0.hasPrefix("ok ") }, "\(allowed.lines)")
    #expect(try run([["Some", "merge", "--filter", "none"]]).status == 1)
    #expect(try run([["?Some", "quick", "--filter", "bad"]]).status == 1)
  }

  @Test(
    "One that fails, is killed, hangs or says nothing of its tests fails the run, and says why",
    arguments: ["bad", "killed", "hung", "mute", "silent"])
  func failing(how: String) throws {
    let units = [["Good", "merge", "--filter", "x"], ["Other", "merge", "--filter", how]]
    let outcome = try run(units, "COFFER_TEST_LIMIT=1")
    #expect(outcome.status == 1)
    #expect(outcome.lines.contains { $0.hasPrefix("ok ") && $0.contains("Good") }, "\(outcome.lines)")
    #expect(outcome.lines.contains { $0.hasPrefix("FAILED") && $0.contains("Other") }, "\(outcome.lines)")
    let reason =
      switch how {
      case "bad": "It adds"
      case "killed": "before the end"
      case "silent": "no tests"
      default: "no test began or ended for 1 s"
      }
    #expect(outcome.lines.contains { $0.contains(reason) }, "\(outcome.lines)")
  }
}
