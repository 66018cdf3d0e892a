// SPDX-License-Identifier: Apache-2.0
//
// Memory does not grow with the mailbox.

import CofferKit
import Foundation
import Testing

extension CrashTests {
  @Suite("Memory", .serialized)
  struct MemoryTests {
    static let limitMiB = 150

    @Test("A mailbox of 200 MiB is imported, searched and exported in 150 MiB")
    func mailbox() throws {
      let fixture = try CofferFixture()
      let mailbox = fixture.folder + "/mails"
      try Mailbox.write(to: mailbox, count: 20_000, bodyByteCount: 10_400)
      let byteCount = try FileManager.default.attributesOfItem(atPath: mailbox)[.size] as? Int ?? 0
      #expect(byteCount >= 200 << 20)
      _ = try fixture.emptyCoffer()

      var table: [[String]] = []
      for words in [
        ["message", "import", "mbox", mailbox], ["message", "search", "fox", "mail 19999"],
        ["message", "export", "mbox", fixture.folder + "/exported"], ["message", "list", "--json"],
        ["doctor", "--deep"], ["vault", "rotate"],
      ] {
        let run = try fixture.start(words).wait(limit: 120, looksAtMemory: true)
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
