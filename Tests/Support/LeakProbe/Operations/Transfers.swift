// SPDX-License-Identifier: Apache-2.0
//
// Many messages in and out. Mailboxes and exports are plain and stand in a folder that is not searched;
// what lies anywhere else would be a find.

import CofferKit
import MessageFormats
import Primitives
import Secrets
import Vaults

extension Operation {
  static let transfers = [
    Operation("import an mbox") { workspace in
      try workspace.importMail { path, coffer in
        var source = try MboxSource(path: path)
        return try coffer.vault.importMessages(from: &source) { _, _ in true }.importedCount
      }
    },
    Operation("stop an import") { workspace in
      try workspace.importMail { path, coffer in
        var source = try MboxSource(path: path)
        try expectThrow("an import") {
          try coffer.vault.importMessages(from: &source) { _, _ in throw Unexpected("enough") }
        }
        return Workspace.mailCount
      }
    },
    Operation("search imported mail") { workspace in
      try workspace.importMail { path, coffer in
        var source = try MboxSource(path: path)
        try coffer.vault.importMessages(from: &source) { _, _ in true }
        var query = SearchQuery(try SearchExpression(["heron"]))
        var found = 0
        _ = try coffer.vault.forEachMessage { _, metadata, content in
          if query.matches(metadata, content) { found += 1 }
          return true
        }
        return found
      }
    },
    Operation("export an mbox") { workspace in
      try workspace.exportMessages { coffer in
        var sink = try MboxSink(path: workspace.given + "/out.mbox", seal: coffer.vault.exportSeal())
        _ = try coffer.vault.forEachMessage {
          try sink.append(id: $0.description, $1, $2)
          return true
        }
        try sink.finish()
      }
    },
    Operation("export JSON Lines") { workspace in
      try workspace.exportMessages { coffer in
        var sink = try JSONLinesSink(path: workspace.given + "/out.jsonl")
        _ = try coffer.vault.forEachMessage {
          try sink.append(id: $0.description, $1, $2)
          return true
        }
        try sink.finish()
      }
    },
  ]
}

extension Workspace {
  fileprivate static let mailCount = 3

  /// Makes a coffer and a mailbox for it.
  @inline(never)
  fileprivate func importMail(_ body: (_ path: String, Coffer) throws -> Int) throws {
    let passphrase = try passphrase()
    try makeCoffer(passphrase)
    let path = given + "/in.mbox"
    try writeMailbox(path)
    try withCoffer(passphrase) { coffer in
      try expect(try body(path, coffer) == Self.mailCount, "all mails came in")
    }
  }

  /// A few mails, each with a body of which the parent is told: plain, quoted-printable, base64.
  private func writeMailbox(_ path: String) throws {
    let head = "From alice@example.org Thu Jan  1 00:00:00 2026\nFrom: alice@example.org\nSubject: heron\n"
    var mailbox = SecretBytes(zeroed: 0)
    for encoding in ["7bit", "quoted-printable", "base64"] {
      let text = text("mail body", byteCount: 240)
      let opening = Array((head + "Content-Transfer-Encoding: \(encoding)\n\n").utf8)
      let body = encoding == "base64" ? Self.base64(text) : text.duplicate()
      let mail = Self.joined(body, Array("\n\n".utf8), prefix: opening)
      mailbox = Self.appended(mailbox, mail)
    }
    try mailbox.withBytes { try write($0, to: path) }
  }

  private static func appended(_ first: borrowing SecretBytes, _ second: borrowing SecretBytes) -> SecretBytes
  {
    SecretBytes(byteCount: first.count + second.count) { target in
      first.withBytes { target.copy($0, to: 0) }
      second.withBytes { target.copy($0, to: target.byteCount - $0.byteCount) }
    }
  }

  /// RFC 4648, section 4, within locked memory; the length must be a multiple of three.
  private static func base64(_ secret: borrowing SecretBytes) -> SecretBytes {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    return SecretBytes(byteCount: secret.count / 3 * 4) { target in
      secret.withBytes { source in
        for index in 0..<target.byteCount {
          var bits = 0
          for offset in 0..<3 {
            bits = bits << 8 | Int(source.unsafeLoad(fromByteOffset: index / 4 * 3 + offset, as: UInt8.self))
          }
          target.storeBytes(
            of: alphabet[bits >> (6 * (3 - index % 4)) & 63], toByteOffset: index, as: UInt8.self)
        }
      }
    }
  }

  @inline(never)
  fileprivate func exportMessages(_ body: (Coffer) throws -> Void) throws {
    let passphrase = try passphrase()
    _ = try makeMessages(passphrase)
    try withCoffer(passphrase, body)
  }
}
