// SPDX-License-Identifier: Apache-2.0
//
// Every file in Transcripts/ is a session with the command `coffer` that must go as written.
// The command is COFFER_BINARY, else the one built beside these tests.
//
// With COFFER_TRANSCRIPTS_OUT=FOLDER a session that went otherwise is written there as it went, ready
// to be read and moved over the old one.

import Extents
import Foundation
import Repository
import SoftwareTPM
import Testing

@Suite("Command-line sessions")
struct TranscriptTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")
  static let samples = Repository.root.appending(path: "Samples")

  /// Names of the sessions that want a chip, or of those that do not.
  static func names(withChip: Bool) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter {
      try $0.hasSuffix(".transcript") && Session.wantsChip(transcript($0).steps.map(\.command)) == withChip
    }
  }

  private static func transcript(_ name: String) throws -> Transcript {
    Transcript(text: try String(contentsOf: folder.appending(path: name), encoding: .utf8))
  }

  static let environment = ProcessInfo.processInfo.environment

  static let coffer: URL = {
    if let path = environment["COFFER_BINARY"] { return URL(filePath: path) }
    return URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "coffer")
  }()

  /// Whether nothing of a session is about what keys of passphrases cost: it shows no derivation, and whoever names a
  /// command wants that one.
  private static func isCheap(_ transcript: Transcript) -> Bool {
    environment["COFFER_BINARY"] == nil
      && !transcript.steps.contains { step in
        step.expected.contains { $0.contains("argon2id") } || step.command.contains("argon2id")
      }
  }

  @Test("There are sessions to run, and a command to run them with")
  func somethingToRun() throws {
    #expect(try !Self.names(withChip: false).isEmpty && !Self.names(withChip: true).isEmpty)
    #expect(
      FileManager.default.isExecutableFile(atPath: Self.coffer.path),
      "there is no command at \(Self.coffer.path); build it, or name one in COFFER_BINARY")
  }

  @Test("The session goes as written", arguments: Shares("sessions", count: 8).of(try names(withChip: false)))
  func session(name: String) throws { try run(name) }

  @Test(
    "The session with a chip goes as written",
    .enabled(if: SoftwareTPM.isInstalled, "no swtpm, or no tpm2-tools"),
    arguments: Shares("sessions with a chip", count: 3).of(try names(withChip: true)))
  func chipSession(name: String) throws { try run(name) }

  private func run(_ name: String) throws {
    let transcript = try Self.transcript(name)
    #expect(!transcript.steps.isEmpty, "\(name) holds no command")
    let session = Session(coffer: Self.coffer, samples: Self.samples, isCheap: Self.isCheap(transcript))
    let result = try transcript.check(in: session)
    if result.differences.isEmpty { return }
    Issue.record("\(name) went otherwise:\n\(result.differences.joined(separator: "\n"))")
    if let out = Self.environment["COFFER_TRANSCRIPTS_OUT"] {
      try Data(Transcript.text(of: result.corrected).utf8)
        .write(to: URL(filePath: out).appending(path: name))
    }
  }
}

extension Transcript {
  /// Runs the session; says for each step that went otherwise how, and gives the steps as they went.
  func check(in session: Session) throws -> (differences: [String], corrected: [Step]) {
    var differences: [String] = []
    var corrected = steps
    let outcomes = try session.run(steps.map(\.command))
    for (index, outcome) in outcomes.enumerated() {
      let step = steps[index]
      let alignment = try Alignment(expected: step.expected, actual: outcome.lines)
      if alignment.isMatch, outcome.exitStatus == step.exitStatus { continue }
      var report = ["  $ \(step.command)"] + alignment.report
      if outcome.exitStatus != step.exitStatus {
        report.append("  - [exit \(step.exitStatus)]")
        report.append(outcome.exitStatus.map { "  + [exit \($0)]" } ?? "  + [not run: the session had ended]")
      }
      differences.append(report.joined(separator: "\n"))
      corrected[index].expected = alignment.corrected
      corrected[index].exitStatus = outcome.exitStatus ?? step.exitStatus
    }
    return (differences, corrected)
  }
}
