// SPDX-License-Identifier: Apache-2.0

import Foundation
import Secrets
import Testing

@Suite("Passphrases")
struct PassphraseTests {
  @Test(
    "Composed and decomposed letters give the same bytes",
    arguments: [
      ("gr\u{FC}n \u{E4}pfel", "gru\u{308}n a\u{308}pfel"),
      ("\u{1E69}", "s\u{307}\u{323}"),
      ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
      ("\u{C5}", "\u{212B}"),
    ])
  func normalises(composed: String, decomposed: String) throws {
    let one = try Passphrase(utf8: secret(composed))
    let two = try Passphrase(utf8: secret(decomposed))
    let areEqual = one.isEqual(to: two)
    #expect(areEqual)
    let bytes = text(one)
    #expect(bytes == Array(composed.utf8))
  }

  @Test("Compatibility characters stay apart")
  func keepsCompatibility() throws {
    #expect(try normalised("\u{FB01}x") == Array("\u{FB01}x".utf8))
  }

  @Test("ASCII stays as it is, spaces and control characters too")
  func keepsASCII() throws {
    #expect(try normalised(" a\tb\u{7F} ") == Array(" a\tb\u{7F} ".utf8))
  }

  @Test(
    "Bytes that are not UTF-8 are refused",
    arguments: [
      [0xFF], [0x61, 0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80, 0x61],
    ] as [[UInt8]])
  func refusesInvalidUTF8(bytes: [UInt8]) {
    #expect(failure { try Passphrase(utf8: secret(bytes)) } == .notUTF8)
  }

  @Test("No bytes are not a passphrase")
  func refusesEmpty() {
    #expect(failure { try Passphrase(utf8: secret("")) } == .empty)
  }

  @Test("NUL is refused anywhere", arguments: ["\0", "abc\0", "\0abc", "\u{E4}\0"])
  func refusesNUL(text: String) {
    #expect(failure { try Passphrase(utf8: secret(text)) } == .containsNUL)
  }

  @Test("4,096 bytes are taken and one more is refused, before or after normalising")
  func limit() throws {
    #expect(try normalised(String(repeating: "x", count: 4096)).count == 4096)
    let tooLong = PassphraseError.tooLong(byteCountLimit: 4096)
    #expect(failure { try Passphrase(utf8: secret(String(repeating: "x", count: 4097))) } == tooLong)
    // U+0958 takes three bytes and always decomposes to six.
    let growing = String(repeating: "\u{958}", count: 1000)
    #expect(failure { try Passphrase(utf8: secret(growing)) } == tooLong)
  }

  @Test(
    "One line end is dropped from what is read, and no more",
    arguments: [
      ("word\n", "word"), ("word\r\n", "word"), ("word", "word"), (" wo\trd ", " wo\trd "),
      ("\u{FEFF}word", "word"), ("\u{FEFF}word\r\n", "word"), ("wo\u{FEFF}rd", "wo\u{FEFF}rd"),
      ("\u{C2}\u{85A}\u{2027}", "\u{C2}\u{85A}\u{2027}"),
    ])
  func readsDescriptor(written: String, expected: String) throws {
    let pipe = try pipe(written)
    let passphrase = try Passphrase.read(descriptor: pipe.fileHandleForReading.fileDescriptor)
    let bytes = text(passphrase)
    #expect(bytes == Array(expected.utf8))
  }

  @Test(
    "What nobody could type again is refused, wherever in the file it is; words may be on several lines",
    arguments: [
      "word\n\n", "wo\nrd", "word\r", "\nword", "wo\r\nrd", "word\u{85}", "wo\u{2028}rd", "wo\u{2029}rd",
      "wo\u{1B}rd", "word\u{7F}", "\u{FEFF}word\n\n",
    ])
  func refusesLines(written: String) throws {
    let lines = try pipe(written)
    #expect(
      failure { try Passphrase.read(descriptor: lines.fileHandleForReading.fileDescriptor) } == .notOneLine)
    let words = try pipe(written)
    _ = try Passphrase.read(descriptor: words.fileHandleForReading.fileDescriptor, .words)
  }

  private func pipe(_ written: String) throws -> Pipe {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(written.utf8))
    try pipe.fileHandleForWriting.close()
    return pipe
  }

  @Test("An empty line is not a passphrase", arguments: ["", "\n", "\r\n", "\u{FEFF}", "\u{FEFF}\n"])
  func readsEmptyLine(written: String) throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(written.utf8))
    try pipe.fileHandleForWriting.close()
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    #expect(failure { try Passphrase.read(descriptor: descriptor) } == .empty)
  }

  @Test("A passphrase of the greatest length is read from a file with its line end")
  func readsFile() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "passphrase-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(("\u{FEFF}" + String(repeating: "y", count: 4096) + "\r\n").utf8).write(to: file)
    let passphrase = try Passphrase.read(path: file.path)
    let byteCount = passphrase.byteCount
    #expect(byteCount == 4096)
    try Data(String(repeating: "y", count: 4102).utf8).write(to: file)
    #expect(failure { try Passphrase.read(path: file.path) } == .tooLong(byteCountLimit: 4096))
  }

  @Test("A missing file and a directory are told as what they are")
  func unreadable() {
    #expect(
      failure { try Passphrase.read(path: "/nonexistent/p") } == .unreadable(.cannotOpen(errno: ENOENT)))
    #expect(failure { try Passphrase.read(path: "/") } == .unreadable(.readFailed(errno: EISDIR)))
  }

  // MARK: Short cuts

  private func failure(_ body: () throws -> Passphrase) -> PassphraseError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? PassphraseError }
  }

  private func normalised(_ typed: String) throws -> [UInt8] { text(try Passphrase(utf8: secret(typed))) }

  private func text(_ passphrase: borrowing Passphrase) -> [UInt8] {
    passphrase.withBytes { $0.withUnsafeBytes { Array($0) } }
  }
}

@Suite("Reading secrets")
struct SecretReadingTests {
  @Test("A secret larger than the first buffer arrives whole, in pieces as a pipe gives them")
  func grows() throws {
    let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let pipe = Pipe()
    let writer = Thread {
      for start in stride(from: 0, to: content.count, by: 777) {
        try? pipe.fileHandleForWriting.write(contentsOf: content[start..<min(start + 777, content.count)])
      }
      try? pipe.fileHandleForWriting.close()
    }
    writer.start()
    let secret = try SecretBytes.read(
      fromDescriptor: pipe.fileHandleForReading.fileDescriptor, byteCountLimit: 1 << 20)
    let bytes = secret.withBytes { $0.withUnsafeBytes { Array($0) } }
    #expect(bytes == content)
  }

  @Test("The limit itself is allowed and one byte more is an error", arguments: [0, 1, 4095, 4096, 5000])
  func limit(byteCount: Int) throws {
    #expect(try read(byteCount, limit: byteCount) == .success(byteCount))
    #expect(try read(byteCount + 1, limit: byteCount) == .failure(.tooLong(byteCountLimit: byteCount)))
  }

  @Test("A descriptor that is not open is an error")
  func notOpen() {
    #expect(throws: SecretReadError.readFailed(errno: EBADF)) {
      let secret = try SecretBytes.read(fromDescriptor: -1, byteCountLimit: 10)
      Issue.record("read \(secret.count) bytes")
    }
  }

  private func read(_ count: Int, limit: Int) throws -> Result<Int, SecretReadError> {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(repeating: 1, count: count))
    try pipe.fileHandleForWriting.close()
    return Result { () throws(SecretReadError) in
      try SecretBytes.read(
        fromDescriptor: pipe.fileHandleForReading.fileDescriptor, byteCountLimit: limit
      ).count
    }
  }
}

func secret(_ text: String) -> SecretBytes { secret(Array(text.utf8)) }

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span.bytes) }
