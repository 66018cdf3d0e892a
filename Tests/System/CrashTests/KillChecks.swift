// SPDX-License-Identifier: Apache-2.0
//
// What must hold after a kill, and the coffers that are killed.

import CofferKit
import Foundation
import MessageFormats
import Vaults

extension CofferFixture {
  /// A new coffer, as the bytes of its file.
  func emptyCoffer() throws -> Data {
    try makeCoffer().close()
    return try Data(contentsOf: URL(filePath: database))
  }

  /// A coffer with small messages, as the bytes of its file.
  func filledCoffer(count: Int, _ more: (Coffer) throws -> Void = { _ in }) throws -> Data {
    let coffer = try makeCoffer()
    for number in 0..<count {
      _ = try coffer.vault.add(
        Self.secret("note \(number)"),
        metadata: MessageMetadata(title: "note \(number)", contentType: MessageMetadata.noteType, date: 0))
    }
    try more(coffer)
    coffer.close()
    return try Data(contentsOf: URL(filePath: database))
  }

  /// After a kill: no stray files, everything acknowledged is listed, the phrase opens, nothing is damaged.
  func check(
    _ run: CofferRun, acknowledged: Set<String>, passphraseFile: String? = nil, phraseFile: String? = nil
  ) throws -> CrashTests.KillTests.Outcome {
    var outcome = CrashTests.KillTests.Outcome(wasInTime: run.end == .killed(SIGKILL))
    if !run.isDone, !outcome.wasInTime { outcome.problems.append("\(run)") }
    let stray = try strayFiles()
    if !stray.isEmpty { outcome.problems.append("left behind: \(stray)") }

    let passphrase = ["--passphrase-file", passphraseFile ?? self.passphraseFile]
    // By another process than the one that was killed.
    let list = try runWithin(["message", "list", "--json"], secret: passphrase)
    let ids = Set(list.lines.map(\.messageID))
    outcome.acknowledged = acknowledged.count
    outcome.found = ids.count
    if !list.isDone || !acknowledged.isSubset(of: ids) {
      outcome.problems.append("\(acknowledged.subtracting(ids).count) acknowledged are missing: \(list)")
    }
    for again in [
      try runWithin(["doctor", "--deep"], secret: passphrase),
      try runWithin(["recovery", "drill"], secret: ["--phrase-file", phraseFile ?? self.phraseFile]),
    ] where !again.isDone {
      outcome.problems.append("\(again)")
    }
    return outcome
  }
}

extension CofferRun {
  /// The lines that were written to their end.
  var wholeLines: [String] { output.last == UInt8(ascii: "\n") ? lines : lines.dropLast() }
}

extension String {
  /// The identifier in a line of `message list --json`.
  var messageID: String {
    guard let start = range(of: "\"id\":\"")?.upperBound else { return "" }
    return String(self[start...].prefix(36))
  }
}
