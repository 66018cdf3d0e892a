// SPDX-License-Identifier: Apache-2.0
//
// How a self-test ends, and what its report says.

import CofferKit
import Enclaves
import Testing

@testable import CofferCommands

@Suite("Report of the self-test")
struct SelfTestReportTests {
  private func report(_ results: [SelfTest.Result]) -> SelfTestReport {
    SelfTestReport(
      head: .init(time: 1_800_000_000),
      rows: results.map { SelfTest.Row(.advanced, .backupAndImport, $0, milliseconds: 3100) },
      facts: MachineFacts(Machine(enclaves: [SoftwareEnclave()]), nil))
  }

  @Test("One row that failed ends it with 70, and is in the report")
  func failed() throws {
    let report = report([.passed, .failed, .notPossible])
    let failure = try #require(throws: Failure.self) { try report.check() }
    #expect(failure.exit == .bug)
    #expect(failure.code == "self_test_failed")
    #expect(failure.message == "1 check of the self-test failed")
    #expect(report.sum == "1 of 3 passed, 1 not possible here")
    #expect(report.text.contains("backup and import ................ FAILED   3100 ms"))
    #expect(report.answer.failed == 1)
  }

  @Test("What the machine lacks ends it with 0")
  func lacking() throws {
    let report = report([.passed, .notPossible])
    try report.check()
    #expect(report.text.contains("not possible: too little memory"))
    #expect(report.answer.notPossible == 1)
    #expect(report.answer.machine.chip == "none")
  }

  @Test("A report has a group once, and lines of at most 100 columns")
  func lines() {
    let lines = report([.passed, .passed]).text.split(separator: "\n")
    #expect(lines.count { $0.contains("advanced") } == 1)
    #expect(lines.allSatisfy { $0.count <= 100 })
  }
}
