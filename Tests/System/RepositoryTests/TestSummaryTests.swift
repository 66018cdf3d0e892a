// SPDX-License-Identifier: Apache-2.0
//
// `scripts/test-summary` counts what a run of the tests reported. The reports here are made up, in the form of Swift
// Testing's event stream, so that a summary which never finds a failure cannot pass.

import Foundation
import Repository
import Testing

@Suite("The summary of the tests")
struct TestSummaryTests {
  private static let good = [
    test("A", "It signs"), test("B", "Cases"), test("C", "Died"), test("D", "Cancelled"), test("E", "Cases"),
    event("testSkipped", "A", "skip", #"Test \"It signs\" skipped: \"no swtpm\""#),
    started("B"), started("C"), started("D"), started("E"),
    #"{"kind":"event","payload":{"kind":"testCaseStarted","messages":[{"symbol":"default","text":"x"}],"testID":"B"}}"#,
    #"{"kind":"event","payload":{"kind":"issueRecorded","issue":{"isKnown":true},"testID":"C","#
      + #""messages":[{"symbol":"passWithKnownIssue","text":"Expectation failed: false"}]}}"#,
    passed("B"),
    event("testEnded", "C", "passWithKnownIssue", "Test passed after 0.050 seconds with 1 known issue."),
    event("testEnded", "D", "skip", #"Test \"Cancelled\" was cancelled after 0.001 seconds: \"no bus\""#),
    passed("E"),
    event("testEnded", "Suite", "pass", "Suite S passed after 0.104 seconds."),
  ]

  @Test("Passed and skipped tests are counted, with the reasons in front")
  func good() throws {
    let outcome = try summary(of: Self.good + [Self.end(5)], status: 0)
    #expect(outcome.status == 0)
    #expect(outcome.lines.last == "3 passed, 0 failed, 2 skipped")
    #expect(outcome.lines.contains("  It signs: no swtpm"))
    #expect(outcome.lines.contains("  Cancelled: no bus"))
    #expect(outcome.lines.contains("  Died: Expectation failed: false"))
  }

  @Test("A failed test is counted and named, and so is one whose arguments cannot be made")
  func failed() throws {
    let outcome = try summary(
      of: Self.good + [
        Self.test("F", "Wrong"), Self.test("G", "No arguments"), Self.started("F"),
        Self.issue("F", "Expectation failed: x == 1"),
        Self.event("testEnded", "F", "fail", "Test failed after 0.001 seconds with 1 issue."),
        Self.issue("G", "Caught error: CancellationError()"), Self.end(6, symbol: "fail"),
      ], status: 1)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last == "3 passed, 2 failed, 2 skipped")
    #expect(outcome.lines.contains("  Wrong at A.swift:14: Expectation failed: x == 1"))
    #expect(outcome.lines.contains("  No arguments at A.swift:14: Caught error: CancellationError()"))
  }

  @Test(
    "A test that is skipped for no reason, or has no case, counts as failed",
    arguments: [#"Test \"Never\" skipped."#, #"Test \"Never\" skipped: \"No test cases found.\""#])
  func reasonless(said: String) throws {
    let outcome = try summary(
      of: Self.good + [Self.test("F", "Never"), Self.event("testSkipped", "F", "skip", said), Self.end(6)],
      status: 0)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last == "3 passed, 1 failed, 2 skipped")
  }

  @Test("A crash is not a success, and the tests that had not ended are named")
  func crashed() throws {
    let outcome = try summary(
      of: Self.good + [Self.test("F", "Crash"), Self.started("F"), #"{"kind":"event","payl"#], status: 1)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last?.hasPrefix("FAILED: did not come to an end: some") == true)
    #expect(outcome.lines.contains("  Crash"))
    // Whatever the status was.
    #expect(try summary(of: Self.good, status: 0).status == 1)
  }

  @Test("An empty run, one whose sum is wrong, and one that failed without a failed test are no success")
  func odd() throws {
    for (events, status, said) in [
      ([], 0, "did not come to an end: some"), ([Self.end(0)], 0, "no test has a name that matches"),
      (Self.good + [Self.end(7)], 0, "the run had 7 tests"),
      (Self.good + [Self.end(5, symbol: "fail")], 0, "the run says that it failed"),
      (Self.good + [Self.end(5)], 139, "failed with status 139"),
    ] {
      let outcome = try summary(of: events, status: status)
      #expect(outcome.status == 1)
      #expect(outcome.lines.last?.hasPrefix("FAILED: ") == true)
      #expect(outcome.lines.last?.contains(said) == true, "\(outcome.lines)")
    }
  }

  @Test("Tests that did not begin leave no report, and are no success")
  func noReport() throws {
    for status in [0, 1] {
      let outcome = try runScript("test-summary", ["/nonexistent", "\(status)"])
      #expect(outcome.status == 1)
      #expect(outcome.output.hasPrefix("FAILED: no test has a name that matches"))
    }
  }

  @Test("Each process is counted, and each has to come to its end")
  func processes() throws {
    let other = [Self.test("M", "Middle"), Self.started("M"), Self.passed("M")]
    let good = try summary(of: ["one": Self.good + [Self.end(5)], "two": other + [Self.end(1)]], status: 0)
    #expect(good.status == 0)
    #expect(good.lines.last == "4 passed, 0 failed, 2 skipped")
    let cut = try summary(of: ["one": Self.good + [Self.end(5)], "two": other], status: 0)
    #expect(cut.status == 1)
    #expect(cut.lines.last?.hasPrefix("FAILED: did not come to an end: two") == true)
  }

  // MARK: Reports

  private static func test(_ id: String, _ name: String) -> String {
    #"{"kind":"test","payload":{"kind":"function","id":"\#(id)","name":"f()","displayName":"\#(name)"}}"#
  }

  private static func event(_ kind: String, _ id: String, _ symbol: String, _ said: String) -> String {
    #"{"kind":"event","payload":{"kind":"\#(kind)","testID":"\#(id)","#
      + #""messages":[{"symbol":"\#(symbol)","text":"\#(said)"}]}}"#
  }

  private static func started(_ id: String) -> String { event("testStarted", id, "default", "Test started.") }

  private static func passed(_ id: String) -> String {
    event("testEnded", id, "pass", "Test passed after 0.030 seconds.")
  }

  private static func issue(_ id: String, _ said: String) -> String {
    #"{"kind":"event","payload":{"kind":"issueRecorded","testID":"\#(id)","issue":{"isKnown":false,"#
      + #""sourceLocation":{"fileID":"A.swift","line":14}},"messages":[{"symbol":"fail","text":"\#(said)"}]}}"#
  }

  private static func end(_ count: Int, symbol: String = "pass") -> String {
    #"{"kind":"event","payload":{"kind":"runEnded","#
      + #""messages":[{"symbol":"\#(symbol)","text":"Test run with \#(count) tests in 3 suites passed."}]}}"#
  }

  private func summary(of events: [String], status: Int) throws -> (status: Int32, lines: [String]) {
    try summary(of: ["some": events], status: status)
  }

  private func summary(of events: [String: [String]], status: Int) throws -> (status: Int32, lines: [String])
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "events \(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, lines) in events {
      try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: folder.appending(path: "\(name).events"))
    }
    let outcome = try runScript("test-summary", [folder.path(percentEncoded: false), "\(status)"])
    return (outcome.status, outcome.output.split(separator: "\n").map(String.init))
  }
}
