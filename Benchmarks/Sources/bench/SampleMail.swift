// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A mailbox of made-up mails of about 1 KiB each.
enum SampleMail {
  private static let words = [
    "harbour", "choir", "lease", "barometer", "window", "ticket", "garden", "letter", "morning", "river",
    "stone", "paper", "lamp", "winter", "bicycle", "museum", "orchard",
  ]

  /// Writes `count` mails to a new mbox; always the same for the same count.
  static func write(_ count: Int, to path: String) throws {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    var random: UInt64 = 1
    func next() -> String {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return words[Int(random >> 33) % words.count]
    }
    var chunk = ""
    for number in 0..<count {
      var mail = """
        From ann@example.org Sat Mar 14 07:00:01 2026
        From: Ann <ann@example.org>
        To: Ben <ben@example.org>
        Subject: Note \(number) on the \(next())
        Date: Sat, 14 Mar 2026 07:00:01 +0000
        Message-ID: <\(number)@example.org>


        """
      while mail.utf8.count < 1_000 {
        for _ in 0..<9 { mail += next() + " " }
        mail += "\n"
      }
      chunk += mail + "\n"
      if chunk.utf8.count > 1 << 20 {
        try file.write(contentsOf: Data(chunk.utf8))
        chunk = ""
      }
    }
    try file.write(contentsOf: Data(chunk.utf8))
    try file.close()
  }
}
