// SPDX-License-Identifier: Apache-2.0
//
// The first hundred bytes of the database file (SQLite file format, section 1.3). SQLite trusts most of them.
// For a coffer each has a known value, which is checked before SQLite opens the file. Only before, since
// closing any descriptor of a file drops every lock that this process holds on it (POSIX), so a file that is
// open in SQLite must not be opened a second time.

internal import Glibc

struct FileHeader {
  static let byteCount = 100
  static let pageByteCount = 4096
  /// "Coff": SQLite's `application_id`.
  static let applicationID: UInt32 = 0x436F_6666

  private let bytes: [UInt8]

  /// Reads the header of the file at `path`.
  init(path: String) throws(StorageError) {
    guard let descriptor = try DatabaseFile.openFile(path, O_RDONLY, as: .database) else { throw .notFound }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, Self.byteCount, 0)
    }
    guard count >= 0 else { throw .inputOutput(code: errno) }
    guard count == Self.byteCount else { throw .corrupt(part: .header) }
    self.bytes = bytes
  }

  /// Compares every field that never changes.
  ///
  /// - Parameter knownFormat: the newest schema version that this program knows.
  /// - Returns: the file's, from 1. The log may have a newer one.
  func check(knownFormat: Int) throws(StorageError) -> Int {
    let isPlain =
      bytes.starts(with: Array("SQLite format 3\0".utf8))
      && integer(16, 2) == UInt32(Self.pageByteCount)
      && bytes[18] == 2 && bytes[19] == 2  // write-ahead log, for writing and reading
      && bytes[20] == 0  // no reserved bytes
      && bytes[21] == 64 && bytes[22] == 32 && bytes[23] == 32  // payload fractions
      && integer(44, 4) == 4  // schema format
      && integer(52, 4) == 0  // no auto-vacuum
      && integer(56, 4) == 1  // UTF-8
      && integer(64, 4) == 0 && integer(68, 4) == Self.applicationID
      && bytes[72..<92].allSatisfy { $0 == 0 }
    guard isPlain else { throw .corrupt(part: .header) }
    let format = Int(integer(60, 4))
    guard (1...knownFormat).contains(format) else {
      throw .unknownFormat(found: format, known: knownFormat)
    }
    return format
  }

  private func integer(_ offset: Int, _ count: Int) -> UInt32 {
    bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
