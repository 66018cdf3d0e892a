// SPDX-License-Identifier: Apache-2.0
//
// `scripts/test-summary` counts what a run of the tests said. The logs here are made up, in the words of Swift
// Testing, so that a summary which never finds a failure cannot pass.

import Foundation
import Repository
import Testing

@Suite("The summary of the tests")
struct TestSummaryTests {
  private static let good = """
    ◇ Test run started.
    ➜ Suite "A chip" skipped: "no swtpm"
    ➜ Test "It signs" skipped: "no swtpm"
    ◇ Test "Cases" started.
    ◇ Test case passing 1 argument x → 1 to "Cases" started.
    ◇ Test case passing 1 argument line → "➜ Test "Never" skipped." to "Cases" started.
    ◇ Test plain() started.
    ◇ Test "Died" started.
    ◇ Test "Cancelled" started.
    ━ Test "Died" recorded a known issue at A.swift:1:2: Expectation failed: false
    ↳ it died
    ✔ Test "Cases" with 3 test cases passed after 0.050 seconds.
    no line end ✔ Test plain() passed after 0.030 seconds.
    ━ Test "Died" passed after 0.050 seconds with 1 known issue.
    ➜ Test "Cancelled" was cancelled after 0.001 seconds: "no bus"
    ✔ Suite S passed after 0.104 seconds.

    """
  private static let end = "✔ Test run with 5 tests in 3 suites passed after 0.104 seconds.\n"

  @Test("Passed and skipped tests are counted, with the reasons in front")
  func good() throws {
    let outcome = try summary(of: Self.good + Self.end, status: 0)
    #expect(outcome.status == 0)
    #expect(outcome.lines.last == "3 passed, 0 failed, 2 skipped")
    #expect(outcome.lines.contains(#"  "It signs": no swtpm"#))
    #expect(outcome.lines.contains(#"  "Cancelled": no bus"#))
    #expect(outcome.lines.contains { $0.contains("\"Died\" recorded a known issue") })
  }

  @Test("A line that another thread wrote into the line of an argument counts")
  func torn() throws {
    let log = """
      ◇ Test "Torn" started.
      ◇ Test case passing 1 argument text → "ä✔ Test "Torn" passed after 0.010 seconds.
      ✔ Test run with 1 test in 1 suite passed after 0.104 seconds.

      """
    let outcome = try summary(of: log, status: 0)
    #expect(outcome.status == 0)
    #expect(outcome.lines.last == "1 passed, 0 failed, 0 skipped")
  }

  @Test("A failed test is counted and named, and so is one whose arguments cannot be made")
  func failed() throws {
    let outcome = try summary(
      of: Self.good + """
        ◇ Test "Wrong" started.
        ✘ Test "Wrong" recorded an issue with 1 argument x → 2 at A.swift:14:118: Expectation failed: false
        ✘ Test "Wrong" with 3 test cases failed after 0.001 seconds with 1 issue.
        ✘ Test "No arguments" recorded an issue with 1 argument : Caught error: CancellationError()
        ✘ Test run with 6 tests in 3 suites failed after 0.047 seconds with 2 issues.

        """, status: 1)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last == "3 passed, 2 failed, 2 skipped")
    #expect(outcome.lines.contains { $0.contains("\"Wrong\" recorded an issue") })
  }

  @Test(
    "A test that is skipped for no reason, or has no case, counts as failed",
    arguments: [#"➜ Test "Never" skipped."#, #"➜ Test "Never" skipped: "No test cases found.""#])
  func reasonless(line: String) throws {
    let outcome = try summary(
      of: Self.good + line + "\n" + Self.end.replacing("5 tests", with: "6 tests"), status: 0)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last == "3 passed, 1 failed, 2 skipped")
  }

  @Test("A crash is not a success, and the tests that had not ended are named")
  func crashed() throws {
    let outcome = try summary(of: Self.good + "◇ Test \"Crash\" started.\nFatal error\n", status: 1)
    #expect(outcome.status == 1)
    #expect(outcome.lines.last?.hasPrefix("FAILED: the run did not come to its end") == true)
    #expect(outcome.lines.contains(#"  "Crash""#))
    // Whatever the status was.
    #expect(try summary(of: Self.good, status: 0).status == 1)
  }

  @Test("An empty run, one whose sum is wrong, and one that failed without a failed test are no success")
  func odd() throws {
    let nothing = "✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.\n"
    for (log, status, said) in [
      ("", 0, "did not come to its end"), (nothing, 0, "no test has a name that matches"),
      (Self.good + Self.end.replacing("5 tests", with: "7 tests"), 0, "the run had 7 tests"),
      (Self.good + Self.end, 139, "failed with status 139"),
    ] {
      let outcome = try summary(of: log, status: status)
      #expect(outcome.status == 1)
      #expect(outcome.lines.last?.hasPrefix("FAILED: ") == true)
      #expect(outcome.lines.last?.contains(said) == true, "\(outcome.lines)")
    }
  }

  private func summary(of log: String, status: Int) throws -> (status: Int32, lines: [String]) {
    let file = FileManager.default.temporaryDirectory.appending(path: "log-\(UUID().uuidString)")
    try Data(log.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let outcome = try runScript("test-summary", [file.path(), "\(status)"])
    return (outcome.status, outcome.output.split(separator: "\n").map(String.init))
  }
}
