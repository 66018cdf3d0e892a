// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import MessageFormats
import Testing

@Suite("Mbox")
struct MboxTests {
  let scratch = Scratch()

  func read(_ text: String) throws -> (messages: [Message], errors: [MessageFormatError]) {
    try Format.mbox.read(scratch.write("in.mbox", text))
  }

  @Test("a From line counts only after an empty line")
  func separators() throws {
    let (messages, _) = try read(
      "From a Thu Jan  1 00:01:00 1970\nSubject: one\n\ntext\nFrom here on\n>From q\n>>From qq\n> From no\n\n"
        + "From c Thu Jan  1 00:02:00 1970\nSubject: two\n\nbye\n")
    #expect(
      messages.map(\.text) == [
        "Subject: one\n\ntext\nFrom here on\nFrom q\n>From qq\n> From no\n", "Subject: two\n\nbye\n",
      ])
    #expect(messages.map(\.metadata.date) == [60, 120])
    #expect(messages.map(\.metadata.title) == ["one", "two"])
    #expect(messages.allSatisfy { $0.metadata.contentType == "message/rfc822" && $0.metadata.tags.isEmpty })
  }

  @Test("CRLF files keep their line ends")
  func crlf() throws {
    let (messages, errors) = try read(
      "From a Thu Jan  1 00:01:00 1970\r\nSubject: one\r\n\r\n>From q\r\n\r\nFrom b\r\nSubject: two\r\n\r\nx")
    #expect(errors.isEmpty)
    #expect(messages.map(\.text) == ["Subject: one\r\n\r\nFrom q\r\n", "Subject: two\r\n\r\nx"])
    #expect(messages.map(\.metadata.title) == ["one", "two"])
  }

  @Test("empty files have no message, and empty messages are messages")
  func empty() throws {
    #expect(try read("").messages.isEmpty)
    #expect(try read("\n\n\n").messages.isEmpty)
    #expect(try read("From a\n").messages.map(\.text) == [""])
    #expect(try read("From a").messages.map(\.text) == [""])
    let dates = ["Thu Jan  1 00:01:00 1970", "Thu Jan  1 00:02:00 1970"]
    #expect(try read("From a \(dates[0])\n\nFrom b \(dates[1])\n\n").messages.map(\.text) == ["", ""])
    #expect(try read("\u{FEFF}\nFrom a\nx: y\n").messages.map(\.text) == ["x: y\n"])
  }

  @Test("a file that does not begin with From is complained about once")
  func garbage() throws {
    let (messages, errors) = try read("hello\n\nFrom a\nx: y\n")
    #expect(messages.map(\.text) == ["x: y\n"])
    #expect(errors == [.malformed(entry: 1, what: "the file does not begin with a From line")])
    #expect(try read(String(repeating: "no mbox ", count: 900_000)).errors.count == 1)
  }

  @Test(
    "subjects are decoded",
    arguments: [
      ("=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"), ("=?UTF-8?q?Gr=C3=BC=C3=9Fe_an_alle?=", "Grüße an alle"),
      ("=?iso-8859-1?Q?Gr=FC=DFe?= x", "Grüße x"), ("=?utf-8?B?R3I=?=\n =?utf-8?B?w7zDn2U=?=", "Grüße"),
      ("=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=", "Grüße"), ("folded\n  line", "folded  line"),
      ("=?koi8-r?B?8NLJ18XU?=", "Привет"), ("=?bad", "=?bad"), ("=?utf-8?X?abc?=", "=?utf-8?X?abc?="),
      ("a =?utf-8?Q?b?= c", "a b c"), ("=?utf-8*de?Q?=C3=BC?=", "ü"), ("=?unknown-1?Q?=FC?=", "ü"),
      ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"), ("raw ü", "raw ü"), ("=?utf-8?Q?a=0Ab?=", "a b"),
      ("", ""),
      ("=?windows-1252?Q?=80?=", "€"), ("=?utf-8?Q??=", ""),
    ])
  func subjects(_ encoded: String, _ title: String) throws {
    #expect(
      try read("From a\nX: y\nSubject: \(encoded)\nTo: b\n\nbody\n").messages.first?.metadata.title == title)
  }

  @Test(
    "dates are read in all their forms",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:10 +0000", 10), ("1 Jan 1970 00:01 GMT", 60),
      ("Thu, 1 Jan 70 01:00:00 +0100", 0),
      ("Wed, 31 Dec 1969 19:00:00 EST", 0), ("Thu, 01 Jan 1970 00:00:10 (comment (nested)) UT", 10),
      ("Thu, 01 Jan 1970 00:00:10 Z (GMT)", 10), ("Tue, 14 Nov 2023\n 22:13:20 +0000", 1_700_000_000),
      ("14 Nov 23 14:13:20 PST", 1_700_000_000), ("14 Nov 123 22:13:20 -0000", 1_700_000_000),
      ("Thu, 1 Jan 1970 02:00:10 +02:00", 10), ("Thu, 1 Jan 1970 02:00:10 GMT+0200", 10),
      ("Thu, 1 Jan 1970 02:00:10 UTC+2", 10), ("Thu, 1 Jan 1970 02:00:10 GMT +0200", 10),
      ("Thu, 1 Jan 1970 02:00:10 +200", 10), ("Thu, 1 Jan 1970 02:00:10 +02", 10),
      ("Thu, 1 Jan 1970 02:00:10 +02:00:00 (CEST)", 10), ("Thu, 1 Jan 1970 02:00:10 CEST", 10),
      ("Wed, 31 Dec 1969 20:30:10 -03:30", 10), ("Thu, 1 Jan 1970 00:00:10 XYZ", 10),
      ("Thu, 1 Jan 1970 05:45:10 +0545", 10), ("Thu, 1 Jan 1970 00:00:10 +9900", 10),
      ("1970-01-01T02:00:10+02:00", 10), ("1970-01-01T00:00:10Z", 10), ("1970-01-01 00:00:10", 10),
      ("1970-01-01T02:00:10,25+02:00", 10), ("1970-01-01T00:00:10.125Z", 10), ("1970/01/01 00:00:10", 10),
      ("Thursday, 01-Jan-70 00:00:10 GMT", 10), ("Thu, 1 Jan 1970 00.00.10 +0000", 10),
      ("Thu Jan  1 00:00:10 1970", 10), ("Thu Jan 01 1970 02:00:10 GMT+0200 (Central European Time)", 10),
      ("Thu, 1 January 1970 00:00:10 UTC", 10), ("Thu, 1 Jan. 1970 12:00:10 AM", 10),
      ("01/Jan/1970:02:00:10 +0200", 10), ("Thu, 01 Jan 1970 00:00:10.500 +0000", 10),
      ("16.04.2015", 77), ("Thu, 1 Foo 1970 00:00:10 +0000", 77), ("Thu, 1 Jan 1970 24:00:10 +0000", 77),
      ("nonsense", 77), ("Thu, 32 Jan 1970 00:00:10 +0000", 77), ("", 77), ("Thu,", 77),
    ] as [(String, Int64)])
  func dates(_ text: String, _ seconds: Int64) throws {
    let mail = "From a@b Thu Jan  1 00:01:17 1970\nDate: \(text)\n\nbody\n"
    #expect(try read(mail).messages.first?.metadata.date == seconds)
  }

  @Test("the date of the From line is read with and without a zone")
  func fromLines() throws {
    let (messages, _) = try read(
      "From Jan Thu Jan  1 00:01:00 1970\n\nFrom a Thu Jan  1 01:01:00 +0100 1970\n\n"
        + "From b Thu Jan  1 01:01:00 1970 +0100\n\nFrom c\nX: y\n\nFrom d at nowhere\n")
    #expect(messages.map(\.metadata.date) == [60, 60, 60, 0])
    #expect(messages.last?.text == "X: y\n\nFrom d at nowhere\n")
  }

  @Test(
    "every form of a From line with a date separates mails",
    arguments: [
      "a@b Thu Jan  1 00:01:00 1970", "- Thu Jan 01 00:01:00 1970", "a Thu Jan  1 00:01 1970",
      "???@??? Thu Jan 01 00:01:00 1970", "1587@xxx Thu Jan 01 00:01:00 +0000 1970",
      "Ann Lee <a@b> Thu Jan  1 00:01:00 1970", "a at b.org  Thu Jan  1 00:01:00 1970",
      "a@b Thu Jan  1 00:01:00 GMT 1970", "a@b Thu Jan  1 00:01:00 XYZT 1970", "Thu Jan  1 00:01:00 1970",
      "a@b Thu Jan  1 01:01:00 1970 +01:00", "a@b Thu Jan  1 01:01:00 1970 (CET) +0100",
      "a!b Thu Jan  1 00:01:00 1970 remote from c", "a@b Thu, 1 Jan 1970 00:01:00 +0000",
      "a@b 1970-01-01T00:01:00Z", "a@b 1970-01-01T01:01:00.5+01:00", "a@b Thursday, 01-Jan-70 00:01:00 GMT",
      "0123456789012345678901234567890123456789 Thu Jan  1 00:01:00 1970",
    ])
  func fromForms(_ line: String) throws {
    for end in ["\n", "\r\n"] {
      let one = "From x Thu Jan  1 00:00:07 1970\nSubject: one\n\ntext\n"
      let two = "From \(line)\nSubject: two\n\nbye\n"
      let (messages, _) = try read((one + "\n" + two).replacing("\n", with: end))
      #expect(messages.map(\.metadata.title) == ["one", "two"])
      #expect(messages.map(\.metadata.date) == [7, 60])
      // Writers that leave the empty line out.
      #expect(
        try read((one + two).replacing("\n", with: end)).messages.map(\.metadata.title) == ["one", "two"])
    }
  }

  @Test(
    "a line of text that begins with From is text, and nothing is cut",
    arguments: [
      "From my (non technical end) some questions:\nLatency, mostly", "From ", "From  \nSubject: x",
      "From here on\nit rains", "From Monday 3 May 2026 at 10:30 on we meet\nat home",
      "From 10:00 to 11:00\nwe eat", "From a\nto b", "From May 2026", "From Mon to Fri\nFrom: is a word",
      "From all of us\nP.S.: see you",
    ])
  func fromInText(_ text: String) throws {
    let mail = "Subject: one\n\nbefore\n\n\(text)\n\nafter\n"
    let (messages, errors) = try read("From x Thu Jan  1 00:00:07 1970\n\(mail)")
    #expect(messages.map(\.text) == [mail] && errors.isEmpty)
  }

  @Test("without a date the headers of a mail decide, also where they come in pieces")
  func headersDecide() throws {
    let mail =
      "From x\nSubject: one\n\ntext\n\nFrom Ann from afar\nFrom: a@b\nDate: 1 Jan 1970 00:00:05 GMT\n\nbye\n"
    let (messages, _) = try read(mail)
    #expect(messages.map(\.metadata.date) == [0, 5])
    let path = scratch.file("fifo")
    mkfifo(path, 0o600)
    let bytes = Array(mail.utf8)
    Thread.detachNewThread {
      let writer = open(path, O_WRONLY)
      for byte in bytes { _ = withUnsafeBytes(of: byte) { write(writer, $0.baseAddress, 1) } }
      close(writer)
    }
    var source = try MboxSource(path: path)
    #expect(readAll(&source).messages.map(\.text) == messages.map(\.text))
  }

  @Test("lines that look like separators come back from an export as they were")
  func quotedSeparators() throws {
    let mail = "Subject: one\n\nFrom a@b Thu Jan  1 00:00:07 1970\nSubject: two\n\n>From x\n\nFrom y\nX: z\n"
    let message = Message(MessageMetadata(title: "one", contentType: "message/rfc822"), Array(mail.utf8))
    for seal in [TestSeal(), TestSeal(key: 2)] {
      var sink = try MboxSink(path: scratch.file("out-\(seal.key)"), seal: TestSeal())
      try sink.append(id: "a", message.metadata, message.content.span.bytes)
      try sink.append(id: "b", message.metadata, message.content.span.bytes)
      try sink.finish()
      var source = try MboxSource(path: scratch.file("out-\(seal.key)"), seal: seal)
      let messages = readAll(&source).messages
      #expect(messages.count == 2 && messages.allSatisfy { $0.text.hasSuffix(mail) })
    }
  }

  @Test("another reader finds mail as it was and notes in base64")
  func foreignReaders() throws {
    let mail = "Subject: hello\n\nFrom me\n"
    try Format.mbox.write(
      [
        Message(MessageMetadata(title: "t", contentType: "message/rfc822", date: 60), Array(mail.utf8)),
        Message(MessageMetadata(title: "Grüße", contentType: MessageMetadata.noteType), Array("note".utf8)),
      ], to: scratch.file("out"))
    let text = String(decoding: scratch.bytes("out"), as: UTF8.self)
    #expect(
      text.hasPrefix("From coffer@localhost Thu Jan  1 00:01:00 1970\nX-Coffer-Export: 1; content=verbatim\n")
    )
    #expect(
      text.contains(
        /\nX-Coffer-Date: 1970-01-01T00:01:00Z\nX-Coffer-Seal: [0-9a-f]{64}\nSubject: hello\n\n>From me\n\nFrom c/
      ))
    #expect(
      text.contains(
        "\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\nDate: Thu, 1 Jan 1970 00:00:00 +0000\nMIME-Version: 1.0\n"))
    #expect(
      text.contains(
        "\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nbm90ZQ==\n\n"))
  }

  private func exported() throws -> String {
    try? FileManager.default.removeItem(atPath: scratch.file("out"))
    try Format.mbox.write(
      [
        Message(MessageMetadata(title: "t", contentType: "text/plain"), Array("note".utf8)),
        Message(MessageMetadata(title: "u", contentType: "text/plain"), Array("more".utf8)),
      ], to: scratch.file("out"))
    return String(decoding: scratch.bytes("out"), as: UTF8.self)
  }

  private func read(
    _ text: String, _ seal: (any ExportSeal)?
  ) throws -> (messages: [Message], foreign: Int) {
    var source = try MboxSource(path: scratch.write("in.mbox", text), seal: seal)
    let (messages, errors) = readAll(&source)
    #expect(errors.isEmpty)
    return (messages, source.progress.unverifiedExportCount)
  }

  @Test("an export that was changed anywhere is taken as mail, whole, and counted")
  func damaged() throws {
    let text = try exported()
    for damage in [
      ("bm90ZQ==", "bm90Z!=="), ("bm90ZQ==", "bm90ZA=="), ("X-Coffer-Title: t\n", ""),
      ("content=base64", "content=else"), ("Title: t", "Title: %zz"), ("Title: t", "Title: x"),
      ("X-Coffer-Seal: ", "X-Coffer-Seal: 0"), ("X-Coffer-Tags:", "X-Coffer-Tags: a,"),
    ] {
      let range = try #require(text.range(of: damage.0))
      let (messages, foreign) = try read(text.replacingCharacters(in: range, with: damage.1), TestSeal())
      #expect(foreign == 1)
      #expect(messages.count == 2)
      let second = Message(MessageMetadata(title: "u", contentType: "text/plain"), Array("more".utf8))
      #expect(messages.last == second)
      let first = try #require(messages.first)
      #expect(first.metadata.isMail && first.metadata.tags.isEmpty)
      #expect(first.text.hasPrefix("X-Coffer-Export: 1; content="))
      #expect(damage.1.isEmpty || first.text.contains(damage.1))
    }
    for length in stride(from: 0, to: text.utf8.count, by: 3) {
      let (messages, _) = try read(String(decoding: text.utf8.prefix(length), as: UTF8.self))
      #expect(messages.count <= 2)
    }
  }

  @Test("export headers without this coffer's seal set nothing, and stay in the mail")
  func forged() throws {
    let forged =
      "X-Coffer-Export: 1; content=verbatim\nX-Coffer-Id: x\nX-Coffer-Title: Urgent\nX-Coffer-Tags: bank,\n"
      + "X-Coffer-Type: text/plain\nX-Coffer-Date: 2030-01-01T00:00:00Z\n"
    let mail = "Subject: hello\nDate: Thu, 01 Jan 1970 00:00:10 +0000\n\nbody\n"
    let spliced = try exported().split(separator: "\n").first { $0.hasPrefix("X-Coffer-Seal: ") }
    for seal in ["", "X-Coffer-Seal: \(String(repeating: "0", count: 64))\n", "\(spliced ?? "")\n"] {
      let (messages, foreign) = try read("From a\n" + forged + seal + mail, TestSeal())
      #expect(foreign == 1)
      #expect(messages.map(\.text) == [forged + seal + mail])
      #expect(
        messages.map(\.metadata) == [
          MessageMetadata(title: "hello", contentType: MessageMetadata.mailType, date: 10)
        ])
    }
    // Another coffer, and whoever has none, take an export as mail too; another program reads the note.
    for seal in [TestSeal(key: 2), nil] as [TestSeal?] {
      let (messages, foreign) = try read(exported(), seal)
      #expect(foreign == 2)
      #expect(messages.map(\.metadata.title) == ["t", "u"])
      #expect(messages.allSatisfy { $0.metadata.isMail && $0.text.contains("\n\nb") })
    }
  }

  @Test("a message above the limit is passed over and its size told")
  func tooLarge() throws {
    let path = scratch.file("large.mbox")
    var bytes = Array("From a\nSubject: small\n\nx\n\nFrom b\nSubject: large\n\n".utf8)
    bytes += [UInt8](repeating: 0x61, count: 70 << 20)
    bytes += Array("\n\nFrom c\nSubject: after\n\ny\n".utf8)
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
    var source = try MboxSource(path: path)
    let (messages, errors) = readAll(&source)
    #expect(messages.map(\.metadata.title) == ["small", "after"])
    guard case .messageTooLarge(let byteCount, MessageLimits.messageByteCount)? = errors.first else {
      Issue.record("not refused")
      return
    }
    #expect(byteCount > 70 << 20 && byteCount < (70 << 20) + 100)
    #expect(source.progress == SourceProgress(bytesRead: bytes.count, bytesTotal: bytes.count))
  }

  @Test("messages of exactly the limit come back, wrapped and verbatim")
  func atLimit() throws {
    var content = [UInt8](repeating: 0x62, count: MessageLimits.messageByteCount)
    content[1] = 0x3A
    let mail = Message(MessageMetadata(contentType: "message/rfc822"), content)
    let binary = Message(MessageMetadata(contentType: "application/octet-stream"), content)
    let written = Shares("messages at the limit", count: 2).of([mail, binary])
    try Format.mbox.write(written, to: scratch.file("out"))
    let (messages, errors) = try Format.mbox.read(scratch.file("out"))
    #expect(errors.isEmpty)
    #expect(messages == written)
    let more = Message(MessageMetadata(contentType: "text/plain"), content + [0])
    #expect(
      throws: MessageFormatError.messageTooLarge(
        byteCount: content.count + 1, limit: MessageLimits.messageByteCount)
    ) {
      try Format.mbox.write([more], to: scratch.file("more"))
    }
  }
}
