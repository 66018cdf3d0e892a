// SPDX-License-Identifier: Apache-2.0
//
// Memory does not grow with the mailbox.

import CofferKit
import Extents
import Foundation
import Testing

extension CrashTests {
  @Suite("Memory", .serialized)
  struct MemoryTests {
    /// What a command did, and the most memory that it had.
    private struct Row {
      let command: String
      let seconds: Double
      let peakKiB: Int
    }

    private func rows(byteCount: Int) throws -> [Row] {
      let fixture = try CofferFixture()
      let mailbox = fixture.folder + "/mails"
      let count = byteCount / 10_485
      try Mailbox.write(to: mailbox, count: count, bodyByteCount: 10_400)
      let written = try FileManager.default.attributesOfItem(atPath: mailbox)[.size] as? Int ?? 0
      #expect(written >= byteCount)
      _ = try fixture.emptyCoffer()
      return try [
        ["message", "import", "mbox", mailbox], ["message", "search", "fox", "mail \(count - 1)"],
        ["message", "export", "mbox", fixture.folder + "/exported"], ["message", "list", "--json"],
        ["doctor", "--deep"], ["vault", "rotate"],
      ].map { words in
        let run = try fixture.start(words).wait(looksAtMemory: true)
        #expect(run.isDone && run.peakKiB > 0, "\(run)")
        return Row(
          command: words.prefix(2).joined(separator: " "), seconds: run.seconds, peakKiB: Int(run.peakKiB))
      }
    }

    private func show(_ rows: [Row], of byteCount: Int) {
      printTable(
        "Peak memory, mailbox of \(byteCount >> 20) MiB",
        rows.map { [$0.command, "\($0.peakKiB >> 10) MiB", "\(Int($0.seconds)) s"] })
    }

    @Test(
      "A mailbox of 200 MiB is imported, searched and exported in 150 MiB; of a smaller one, less than half is needed"
    )
    func mailbox() throws {
      if Shares("memory", count: 1).isWhole {
        let rows = try rows(byteCount: 200 << 20)
        show(rows, of: 200 << 20)
        for row in rows { #expect(row.peakKiB >> 10 < 150, "\(row.command)") }
      }
      // What a program needs whatever it does is in both.
      let (small, large) = (8 << 20, 40 << 20)
      let (before, after) = (try rows(byteCount: small), try rows(byteCount: large))
      show(before, of: small)
      show(after, of: large)
      for (row, other) in zip(after, before) {
        #expect(row.peakKiB - other.peakKiB < (large - small) >> 11, "\(row.command)")
      }
    }
  }
}
