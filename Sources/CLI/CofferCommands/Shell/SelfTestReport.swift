// SPDX-License-Identifier: Apache-2.0
//
// The report of a self-test. It has versions, results and durations, and nothing of the user.

internal import CofferKit
internal import OpenPGP
internal import Texts

/// A report, for people and for programs.
struct SelfTestReport {
  /// What it is about.
  struct Head {
    /// Seconds since 1970, UTC.
    let time: Int64

    var line: String {
      "coffer \(CofferVersion.text), \(EngineLibraries.versions.joined(separator: ", "))   \(RFC3339.format(time))"
    }
  }

  let head: Head
  let rows: [SelfTest.Row]
  let facts: MachineFacts

  // MARK: For people

  var text: String {
    var lines = [head.line]
    for (index, row) in rows.enumerated() {
      lines.append(Self.line(row, after: index > 0 ? rows[index - 1] : nil))
    }
    return (lines + end).joined(separator: "\n")
  }

  /// A row; the group is in the first one of each.
  static func line(_ row: SelfTest.Row, after former: SelfTest.Row?) -> String {
    let group = row.group == former?.group ? "" : row.group.rawValue
    let dots = String(repeating: ".", count: max(0, 33 - row.check.words.count))
    return "  \(group.padded(to: 11))\(row.check.words) \(dots) \(row.result.words)\(note(row))"
  }

  private static func note(_ row: SelfTest.Row) -> String {
    guard row.result != .notPossible else { return "" }
    let digits = "\(row.milliseconds)"
    let duration = "  \(String(repeating: " ", count: max(0, 5 - digits.count)))\(digits) ms"
    switch row.check {
    case .changedMessage: return "\(duration)   \(SelfTest.placeCount) places"
    case .sealAndOpen: return "\(duration)   in software; the chip is not used"
    default: return duration
    }
  }

  /// What follows the rows.
  var end: [String] {
    [
      "  machine    chip: \(facts.chip.words)   finger reader: \(facts.fingerReader.words)   "
        + "security key: \(facts.securityKey.words)",
      "             memory for backups: \(facts.hasMemoryForBackups ? "enough" : "not enough")",
      sum,
    ]
  }

  /// How many rows passed.
  var sum: String {
    let left = count(.notPossible)
    return "\(count(.passed)) of \(rows.count) passed" + (left > 0 ? ", \(left) not possible here" : "")
  }

  private func count(_ result: SelfTest.Result) -> Int { rows.count { $0.result == result } }

  /// - Throws: `self_test_failed` when a row failed.
  func check() throws(Failure) {
    let failed = count(.failed)
    guard failed > 0 else { return }
    throw Failure(
      .bug, "self_test_failed", "\(failed.counted("check")) of the self-test failed",
      hint: "do not rely on this installation; 'coffer self-test --output FILE' makes a report to send"
    )
  }

  // MARK: For programs

  struct Answer: Encodable {
    struct Row: Encodable {
      let group: String
      let check: String
      let result: String
      let milliseconds: Int
    }
    struct Machine: Encodable {
      let chip: String
      let fingerReader: String
      let securityKey: String
      let memoryForBackups: Bool
    }
    let version: String
    let libraries: [String]
    let time: String
    let rows: [Row]
    let machine: Machine
    let passed: Int
    let failed: Int
    let notPossible: Int
  }

  var answer: Answer {
    Answer(
      version: CofferVersion.text, libraries: EngineLibraries.versions, time: RFC3339.format(head.time),
      rows: rows.map {
        .init(
          group: $0.group.rawValue, check: $0.check.rawValue, result: $0.result.rawValue,
          milliseconds: $0.milliseconds)
      },
      machine: .init(
        chip: facts.chip.rawValue, fingerReader: facts.fingerReader.rawValue,
        securityKey: facts.securityKey.rawValue, memoryForBackups: facts.hasMemoryForBackups),
      passed: count(.passed), failed: count(.failed), notPossible: count(.notPossible))
  }
}

extension SelfTest.Check {
  fileprivate var words: String {
    switch self {
    case .digests: "SHA-256, in memory and of a file"
    case .sealedData: "AES-256-GCM, 5 MB, and changes"
    case .keysAndRandomness: "keys and random bytes"
    case .makeIdentity: "make an identity"
    case .encryptAndDecrypt: "encrypt and decrypt, 1 MiB"
    case .changedMessage: "changed message refused"
    case .signAndVerify: "sign and verify"
    case .changedText: "changed text refused"
    case .backupAndImport: "backup and import"
    case .publicPartURL: "public part as QR URL and back"
    case .revocation: "revocation takes effect"
    case .sealAndOpen: "seal, open, other mode refused"
    }
  }
}

extension SelfTest.Result {
  fileprivate var words: String {
    switch self {
    case .passed: "ok"
    case .failed: "FAILED"
    case .notPossible: "not possible: too little memory"
    }
  }
}

extension MachineFacts.Presence {
  fileprivate var words: String {
    switch self {
    case .ready: "yes"
    case .silent: "does not answer"
    case .none: "none"
    }
  }
}

extension MachineFacts.SecurityKeyPresence {
  /// For a line about the machine.
  var words: String {
    switch self {
    case .ready: "yes"
    case .several: "several"
    case .notPermitted: "not permitted"
    case .unsuitable: "cannot be used"
    case .silent: "does not answer"
    case .none: "none"
    case .noLibrary: "libfido2 is missing"
    case .notBuilt: "built without"
    }
  }
}
