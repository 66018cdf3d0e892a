// SPDX-License-Identifier: Apache-2.0
//
// A file with one mail, as programs write it: perhaps after a line "From " of the mailbox that it was in, perhaps compressed.

enum MailFile {
  /// Refuses what is not a mail at all: its headers say the rest.
  static func check(_ content: borrowing ByteBuffer) throws(MessageFormatError) {
    try content.withBytes { (bytes) throws(MessageFormatError) in
      if bytes.byteCount == 0 { throw .malformed(entry: 1, what: "the file is empty") }
      for (mark, what) in compressions
      where mark.indices.allSatisfy({ bytes.byte($0, in: bytes.whole) == mark[$0] }) {
        throw .malformed(entry: 1, what: what)
      }
      let start = MboxSeparator.byteCount(before: bytes)
      guard MailTree.beginsWithField(bytes.extracting(start..<bytes.byteCount)) else {
        throw .malformed(entry: 1, what: "this is not a mail")
      }
    }
  }

  /// Hands over the mail, without what is before it, and the time that a line "From " has.
  static func deliver(
    _ content: borrowing ByteBuffer, _ body: (RawSpan, Int64?) throws -> Void
  ) throws {
    try content.withBytes { bytes in
      let start = MboxSeparator.byteCount(before: bytes)
      let line = bytes.firstOffset(of: "From ", in: 0..<start)
      try body(
        bytes.extracting(start..<bytes.byteCount), line.flatMap { MboxSeparator.date(bytes, $0..<start) })
    }
  }

  private static let compressions: [(mark: [UInt8], what: String)] = [
    (Array("BZh".utf8), "it is compressed with bzip2, which is not read"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "it is compressed with xz, which is not read"),
    ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed with zstd, which is not read"),
    ([0x04, 0x22, 0x4D, 0x18], "it is compressed with lz4, which is not read"),
    // Dovecot's own frame of lz4.
    (Array("Dovecot-LZ4".utf8), "it is compressed with lz4, which is not read"),
  ]
}
