// SPDX-License-Identifier: Apache-2.0
//
// What a path holds, for a user who has named the wrong kind.

/// The kinds of what messages are read from.
public enum SourceKind: String, Sendable, CaseIterable {
  /// A file of mails one after the other, each after a line `From `.
  case mbox
  /// A folder with a file for each mail, in `cur` and `new`.
  case maildir
  /// A file with an object on each line.
  case jsonl
  /// A folder of any files.
  case directory
  /// A file with one mail.
  case eml

  /// The kind of what is at `path`, from the beginning of a file or the names in a folder; nil if it is none of
  /// them, or cannot be read.
  public static func recognized(at path: String) -> SourceKind? {
    if let folder = try? FolderHandle(path: path) {
      guard let entries = try? folder.entries() else { return nil }
      return MaildirSource.isMaildir(folder, entries) ? .maildir : .directory
    }
    guard path != "-", let file = try? InputFile(path: path), file.isRegular else { return nil }
    var beginning = ByteBuffer(capacity: beginningByteCount)
    while beginning.count < beginning.capacity {
      guard let count = try? file.read(into: &beginning), count > 0 else { break }
    }
    return beginning.withBytes { bytes in
      if bytes.matches("From ", at: 0) { return .mbox }
      if bytes.matches("{\"", at: 0) { return .jsonl }
      return MailTree.isMail(bytes) ? .eml : nil
    }
  }

  /// The headers of a mail, or enough of them.
  private static let beginningByteCount = 64 << 10
}
