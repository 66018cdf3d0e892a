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
    /// The mailbox, and what a command may need: the smaller one, too, is larger than that.
    private static let (byteCount, limitMiB) =
      Shares("memory", count: 1).isWhole ? (200 << 20, 150) : (160 << 20, 150)

    @Test(
      "A mailbox is imported, searched and exported in less memory than it has bytes: of 200 MiB in 150 MiB")
    func mailbox() throws {
      let fixture = try CofferFixture()
      let mailbox = fixture.folder + "/mails"
      let count = Self.byteCount / 10_485
      try Mailbox.write(to: mailbox, count: count, bodyByteCount: 10_400)
      let byteCount = try FileManager.default.attributesOfItem(atPath: mailbox)[.size] as? Int ?? 0
      #expect(byteCount >= Self.byteCount && Self.limitMiB << 20 < Self.byteCount)
      _ = try fixture.emptyCoffer()

      var table: [[String]] = []
      for words in [
        ["message", "import", "mbox", mailbox], ["message", "search", "fox", "mail \(count - 1)"],
        ["message", "export", "mbox", fixture.folder + "/exported"], ["message", "list", "--json"],
        ["doctor", "--deep"], ["vault", "rotate"],
      ] {
        let run = try fixture.start(words).wait(looksAtMemory: true)
        #expect(run.isDone, "\(run)")
        #expect(run.peakKiB > 0 && run.peakKiB >> 10 < Self.limitMiB, "\(words)")
        table.append([
          words.prefix(2).joined(separator: " "), "\(run.peakKiB >> 10) MiB", "\(Int(run.seconds)) s",
        ])
      }
      printTable("Peak memory, mailbox of \(byteCount >> 20) MiB", table)
    }
  }
}
