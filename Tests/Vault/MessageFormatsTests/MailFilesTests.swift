// SPDX-License-Identifier: Apache-2.0
//
// Mails in files of their own, compressed files, and what a path holds.

import Foundation
import Testing

@testable import MessageFormats

@Suite("Mail files and gzip")
struct MailFilesTests {
  let scratch = Scratch()

  private static let mail = "From: a@example.org\nSubject: one\nDate: 2 Feb 2020 08:00 +0000\n\ntext\n"
  private static let mbox = "From a\nSubject: one\n\ntext\n\nFrom b\nSubject: two\n\nbye\n"

  /// The content as gzip makes it.
  private func compressed(_ content: [UInt8]) throws -> [UInt8] {
    let path = scratch.write("plain-\(UUID().uuidString)", content)
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", path]
    try gzip.run()
    gzip.waitUntilExit()
    return Array(try Data(contentsOf: URL(filePath: path + ".gz")))
  }

  private func compressed(_ text: String) throws -> [UInt8] { try compressed(Array(text.utf8)) }

  private func read(mails paths: [String]) -> (messages: [Message], errors: [MessageFormatError]) {
    var source = MailFilesSource(paths: paths)
    return readAll(&source)
  }

  @Test("Each file is a mail, and what is none is an error of its own")
  func mails() throws {
    let good = scratch.write("good.eml", Self.mail)
    let bad = scratch.write("bad.eml", Self.mbox)
    let (messages, errors) = read(mails: [good, bad, scratch.file("none"), scratch.path, good])
    #expect(messages.map(\.text) == [Self.mail, Self.mail])
    #expect(
      messages[0].metadata
        == MessageMetadata(
          title: "one", contentType: "message/rfc822", date: 1_580_630_400))
    #expect(
      errors == [
        .entry(path: bad, .malformed(entry: 1, what: "this is not a mail")),
        .entry(path: scratch.file("none"), .notFound), .entry(path: scratch.path, .wrongKind),
      ])
  }

  @Test("A line of a mailbox before a mail is not part of it, and two mails are not one")
  func fromLines() throws {
    let undated = "From: a@example.org\nTo: b@example.org\nSubject: one\n\ntext\n\nFrom here on\n"
    for head in ["From a@b Thu Jan  1 00:01:00 1970\n", ">From a@b Thu Jan  1 00:01:00 1970\r\n"] {
      let (messages, errors) = read(mails: [scratch.write("a.eml", head + undated)])
      #expect(messages.map(\.text) == [undated] && messages.map(\.metadata.date) == [60] && errors.isEmpty)
    }
    #expect(read(mails: [scratch.write("a.eml", "\u{FEFF}" + undated)]).messages.map(\.text) == [undated])
    let two = scratch.write("b.eml", "From a@b\n\(undated)\nFrom c Thu Jan  1 00:01:00 1970\n\(undated)")
    #expect(
      read(mails: [two]).errors == [
        .entry(path: two, .malformed(entry: 1, what: "these are several mails, as an mbox has them"))
      ])
  }

  @Test("A mail of a Maildir may be compressed")
  func compressedMaildir() throws {
    _ = scratch.write("m/cur/1:2,SZ", try compressed(Self.mail))
    _ = scratch.write("m/cur/2:2,S", Self.mail)
    _ = scratch.write("m/cur/3:2,SZ", Array(try compressed(Self.mail).dropLast(9)))
    var source = try MaildirSource(path: scratch.file("m"))
    let (messages, errors) = readAll(&source)
    #expect(messages.map(\.text) == [Self.mail, Self.mail])
    #expect(errors == [.entry(path: "cur/3:2,SZ", .damagedCompression)])
    let files = try Format.directory.read(scratch.file("m")).messages
    #expect(files.map(\.metadata.title) == ["cur/1:2,SZ", "cur/2:2,S", "cur/3:2,SZ"])
  }

  @Test("A compressed file reads as what is in it, also in several members and with zeros at its end")
  func gzip() throws {
    let once = try compressed(Self.mbox)
    let plain = try Format.mbox.read(scratch.write("a.mbox", Self.mbox + "\n" + Self.mbox)).messages
    #expect(plain.count == 4)
    let twice = try compressed(Self.mbox + "\n") + once
    for content in [twice, twice + [0], twice + [UInt8](repeating: 0, count: 100_000)] {
      let (messages, errors) = try Format.mbox.read(scratch.write("a.gz", content))
      #expect(messages == plain && errors.isEmpty)
    }
    let lines = "{\"content\":\"one\"}\n"
    #expect(
      try Format.jsonLines.read(scratch.write("b.gz", compressed(lines))).messages.map(\.text) == ["one"])
    #expect(
      read(mails: [scratch.write("c.gz", try compressed(Self.mail))]).messages.map(\.text) == [Self.mail])
    #expect(try Format.mbox.read(scratch.write("d.gz", compressed(""))).messages.isEmpty)
  }

  @Test("A compressed file that is cut off or damaged is an error, after the mails before")
  func damaged() throws {
    var source = SystemRandomNumberGenerator()
    let noise = (0..<400_000).map { _ in String(UInt8.random(in: 0...255, using: &source), radix: 16) }
      .joined()
    let whole = try compressed(Self.mbox + "\nFrom c Thu Jan  1 00:01:00 1970\n\n" + noise)
    var flipped = whole
    flipped[whole.count / 2] ^= 1
    for content in [Array(whole.dropLast(1)), Array(whole.prefix(whole.count / 2)), flipped, whole + [1]] {
      var source = try MboxSource(path: scratch.write("a.gz", content))
      var texts: [String] = []
      #expect(throws: MessageFormatError.damagedCompression) {
        while try source.next({ texts.append(Message($0, $1).text) }) {}
      }
      #expect(texts == ["Subject: one\n\ntext\n", "Subject: two\n\nbye\n"])
    }
  }

  @Test("What decompresses to more than a message may have is refused")
  func bomb() throws {
    let header = Array("From: a\nTo: b\n\n".utf8)
    let path = scratch.write("a.gz", try compressed(header + [UInt8](repeating: 0x20, count: 80 << 20)))
    let (messages, errors) = read(mails: [path])
    #expect(messages.isEmpty)
    guard case .entry(_, .messageTooLarge) = errors.first else {
      Issue.record("not too large: \(errors)")
      return
    }
  }

  @Test("A path is recognized by what it holds")
  func kinds() throws {
    let gzip = try compressed(Self.mail)
    let expected: [(String, SourceKind?)] = [
      (scratch.write("a", Self.mbox), .mbox), (scratch.write("b", Self.mail), .eml),
      (scratch.write("c", gzip), .eml), (scratch.write("d", "{\"content\":\"x\"}"), .jsonl),
      (scratch.write("e", "text"), nil), (scratch.write("f", ""), nil), (scratch.file("none"), nil),
      (scratch.path, .directory), ("/dev/zero", nil), ("-", nil),
    ]
    for (path, kind) in expected { #expect(SourceKind.recognized(at: path) == kind, "\(path)") }
    _ = scratch.write("new/x", Self.mail)
    #expect(SourceKind.recognized(at: scratch.path) == .maildir)
    #expect(mkfifo(scratch.file("fifo"), 0o600) == 0)
    #expect(SourceKind.recognized(at: scratch.file("fifo")) == nil)
  }
}
