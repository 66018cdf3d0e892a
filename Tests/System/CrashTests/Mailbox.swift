// SPDX-License-Identifier: Apache-2.0
//
// Generated mailboxes, written piece by piece: the tests that measure memory may not need any themselves.

import Foundation

enum Mailbox {
  /// Writes an mbox of `count` mails whose bodies have about `bodyByteCount` bytes.
  static func write(to path: String, count: Int, bodyByteCount: Int) throws {
    try Data().write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    let line = "the quick brown fox jumps over the lazy dog and goes home\n"
    let body = String(repeating: line, count: max(1, bodyByteCount / line.utf8.count))
    var piece = ""
    for number in 0..<count {
      piece += mail(number, body: body)
      if piece.utf8.count > 1 << 20 || number == count - 1 {
        try file.write(contentsOf: Data(piece.utf8))
        piece = ""
      }
    }
  }

  static func mail(_ number: Int, body: String = "a short mail\n") -> String {
    """
    From ann@example.org Thu Jan  1 00:00:00 2026
    From: Ann <ann@example.org>
    To: Bea <bea@example.org>
    Subject: mail \(number)
    Date: Thu, 01 Jan 2026 00:00:00 +0000

    \(body)

    """
  }
}
