// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageFormats
import Testing

@Suite("Maildir and folders")
struct FolderTests {
  let scratch = Scratch()

  @Test("a Maildir is read in a fixed order, subfolders become tags, links are not followed")
  func maildir() throws {
    _ = scratch.write("m/cur/2", "Subject: two\n\n")
    _ = scratch.write("m/cur/1:2,S", "Subject: =?utf-8?Q?=C3=BC?=\nDate: 1 Jan 1970 00:00:05 GMT\n\nx")
    _ = scratch.write("m/new/0", "Subject: new\n\n")
    _ = scratch.write("m/tmp/9", "Subject: unfinished\n\n")
    _ = scratch.write("m/.Sent/cur/1", "Subject: sent\n\n")
    _ = scratch.write("m/.Entw&APw-rfe/new/1", "Subject: draft\n\n")
    _ = scratch.write("m/cur/.hidden", "Subject: hidden\n\n")
    _ = scratch.write("outside", "Subject: outside\n\n")
    symlink(scratch.file("outside"), scratch.file("m/cur/3"))
    symlink(scratch.file("m/.Sent"), scratch.file("m/.Linked"))
    mkfifo(scratch.file("m/cur/4"), 0o600)
    var source = try MaildirSource(path: scratch.file("m"))
    let (messages, errors) = readAll(&source)
    #expect(errors.isEmpty)
    #expect(messages.map(\.metadata.title) == ["ü", "two", "new", "draft", "sent"])
    #expect(messages.map(\.metadata.tags) == [[], [], [], ["Entwürfe"], ["Sent"]])
    #expect(messages.first?.metadata.date == 5)
    #expect(messages[1].metadata.date > 1_600_000_000)
    #expect(source.progress.bytesRead == messages.map(\.content.count).reduce(0, +))
    #expect(
      leftOut(source.progress) == [
        .link: [".Linked", "cur/3"], .hidden: ["cur/.hidden"], .special: ["cur/4"], .unfinished: ["tmp/9"],
      ])
  }

  private func leftOut(_ progress: SourceProgress) -> [LeftOut.Reason: [String]] {
    let groups = progress.leftOut.groups
    #expect(groups.allSatisfy { $0.count == $0.paths.count })
    return Dictionary(uniqueKeysWithValues: groups.map { ($0.reason, $0.paths.sorted()) })
  }

  @Test("a file that is not part of a Maildir is named, and nothing of it is read")
  func straysInMaildir() throws {
    for path in ["cur/1", "Archive/1", "cur/deep/1", ".Sent/new/1", ".Sent/Old/x", ".git/HEAD"] {
      _ = scratch.write("m/" + path, "Subject: \(path)\n\n")
    }
    for path in ["dovecot-uidlist", ".Sent/maildirfolder", ".Sent/tmp/2"] {
      _ = scratch.write("m/" + path, "")
    }
    var source = try MaildirSource(path: scratch.file("m"))
    let (messages, errors) = readAll(&source)
    #expect(errors.isEmpty)
    #expect(messages.map(\.metadata.title) == ["cur/1", ".Sent/new/1"])
    #expect(
      leftOut(source.progress) == [
        .foreign: [".Sent/Old", ".git", "Archive", "cur/deep", "dovecot-uidlist"],
        .unfinished: [".Sent/tmp/2"],
      ])
  }

  @Test("folders are read in every form that writers make, also under a folder without mails of its own")
  func forms() throws {
    for path in [
      "INBOX/cur/1", "INBOX/Kids/cur/2", "INBOX/Kids/School/new/3", "Archive/2020/cur/4", ".Sent/cur/5",
      ".Sent/.Old/cur/6", ".inbox.directory/work/cur/7", ".Entw&APw-rfe.Alt/new/8",
    ] {
      let folder = (path as NSString).deletingLastPathComponent
      _ = scratch.write("m/" + (folder as NSString).deletingLastPathComponent + "/tmp/x", "")
      _ = scratch.write("m/" + path, "Subject: \(path.suffix(1))\n\n")
    }
    _ = scratch.write("m/.mbsyncstate", "")
    _ = scratch.write("m/.git/refs/HEAD", "")
    var source = try MaildirSource(path: scratch.file("m"))
    let (messages, errors) = readAll(&source)
    #expect(errors.isEmpty)
    #expect(
      Dictionary(uniqueKeysWithValues: messages.map { ($0.metadata.title, $0.metadata.tags) }) == [
        "1": ["INBOX"], "2": ["INBOX/Kids"], "3": ["INBOX/Kids/School"], "4": ["Archive/2020"], "5": ["Sent"],
        "6": ["Sent/Old"], "7": ["inbox/work"], "8": ["Entwürfe.Alt"],
      ])
    #expect(leftOut(source.progress)[.foreign] == [".git"])
    #expect(leftOut(source.progress)[.hidden] == [".mbsyncstate"])
    #expect(SourceKind.recognized(at: scratch.file("m")) == .maildir)
    #expect(SourceKind.recognized(at: scratch.file("m/INBOX")) == .maildir)
  }

  @Test(
    "what is no mail, or compressed in a way that is not read, is an error that names it, and the rest is read"
  )
  func strangeFiles() throws {
    for (name, content) in [
      ("1", Array("BZh91AY".utf8)), ("2", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0]), ("3", []),
      ("4", [0x28, 0xB5, 0x2F, 0xFD, 0x24]), ("5", Array("just text\nof two lines\n".utf8)),
      ("6", [0, 1, 2]),
      ("7", Array("From a@b Thu Jan  1 00:01:00 1970\nSubject: seven\n\nx".utf8)),
      ("8", Array(">From a@b\nSubject: eight\n\nx".utf8)), ("9", Array("\u{FEFF}Subject: nine\n\nx".utf8)),
    ] as [(String, [UInt8])] {
      _ = scratch.write("m/cur/\(name)", content)
    }
    var source = try MaildirSource(path: scratch.file("m"))
    let (messages, errors) = readAll(&source)
    #expect(messages.map(\.metadata.title) == ["seven", "eight", "nine"])
    #expect(messages.map(\.text) == ["seven", "eight", "nine"].map { "Subject: \($0)\n\nx" })
    #expect(messages.first?.metadata.date == 60)
    #expect(
      errors.map { if case .entry(let path, .malformed) = $0 { path } else { "\($0)" } }
        == (1...6).map { "cur/\($0)" })
  }

  @Test("links, FIFOs, sockets and hidden files in a folder are named")
  func leftOutOfDirectory() throws {
    for path in ["a", ".env", "b/.git/config", "b/c"] { _ = scratch.write("d/" + path, path) }
    symlink("/etc/passwd", scratch.file("d/link"))
    mkfifo(scratch.file("d/b/fifo"), 0o600)
    var source = try DirectorySource(path: scratch.file("d"))
    let (messages, errors) = readAll(&source)
    #expect(errors.isEmpty)
    #expect(messages.map(\.text) == ["a", "b/c"])
    #expect(
      leftOut(source.progress) == [.hidden: [".env", "b/.git"], .link: ["link"], .special: ["b/fifo"]])
  }

  @Test("folders beyond the limit are errors that name them, and the rest is read")
  func tooDeep() throws {
    let deep = String(repeating: "d/", count: MessageLimits.directoryDepth)
    for path in ["a/\(deep)f", "b/\(deep.dropLast(4))f", "z"] { _ = scratch.write("d/" + path, "x") }
    let (messages, errors) = try Format.directory.read(scratch.file("d"))
    #expect(messages.map(\.metadata.title) == ["b/\(deep.dropLast(4))f", "z"])
    let first = String(deep.dropLast(3))
    #expect(
      errors == [.entry(path: "a/" + first, .tooDeep(limit: MessageLimits.directoryDepth))])
  }

  @Test("more than ten of a kind are counted, and ten named")
  func manyLeftOut() throws {
    for number in 0..<25 { _ = scratch.write("d/.h\(number)", "") }
    var source = try DirectorySource(path: scratch.file("d"))
    _ = readAll(&source)
    let group = try #require(source.progress.leftOut.groups.first)
    #expect(group.count == 25 && group.paths.count == 10 && group.reason == .hidden)
  }

  @Test("waiting for input ends when it is stopped, whatever came before", arguments: ["mbox", "jsonl"])
  func stopped(_ kind: String) throws {
    let path = scratch.file("fifo")
    mkfifo(path, 0o600)
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    defer { for end in ends { close(end) } }
    func readThenStop<S: MessageSource & ~Copyable>(_ source: inout S, _ text: String) throws {
      let writer = open(path, O_WRONLY | O_NONBLOCK)
      defer { close(writer) }
      _ = text.withCString { write(writer, $0, strlen($0)) }
      #expect(try source.next { _, _ in })
      write(ends[1], "!", 1)
      #expect(throws: MessageFormatError.interrupted) { try source.next { _, _ in } }
    }
    if kind == "mbox" {
      var source = try MboxSource(path: path, stop: ends[0])
      try readThenStop(&source, "From a\nSubject: x\n\n1\n\nFrom b\nSubject: y\n")
    } else {
      var source = try JSONLinesSource(path: path, stop: ends[0])
      try readThenStop(&source, "{\"content\":\"1\"}\n{\"cont")
    }
  }

  @Test("a folder that is not a Maildir, a file and nothing are told apart")
  func wrongKinds() throws {
    _ = scratch.write("d/file", "x")
    #expect(throws: MessageFormatError.wrongKind) { _ = try MaildirSource(path: scratch.file("d")) }
    #expect(throws: MessageFormatError.wrongKind) { _ = try MaildirSource(path: scratch.file("d/file")) }
    #expect(throws: MessageFormatError.wrongKind) { _ = try DirectorySource(path: scratch.file("d/file")) }
    #expect(throws: MessageFormatError.notFound) { _ = try DirectorySource(path: scratch.file("e")) }
    #expect(throws: MessageFormatError.wrongKind) { _ = try MboxSource(path: scratch.file("d")) }
    #expect(throws: MessageFormatError.wrongKind) { _ = try JSONLinesSource(path: scratch.file("d")) }
  }

  @Test("a folder is read recursively and sorted, and text is text")
  func directory() throws {
    for name in ["b.txt", "a/z.eml", "a/y.JPG", "c", ".hidden", ".git/x", "d.html", "n.md"] {
      _ = scratch.write("d/" + name, name)
    }
    symlink("/etc/passwd", scratch.file("d/e.txt"))
    symlink("/etc", scratch.file("d/etc"))
    let (messages, errors) = try Format.directory.read(scratch.file("d"))
    #expect(errors.isEmpty)
    #expect(messages.map(\.metadata.title) == ["a/y.JPG", "a/z.eml", "b.txt", "c", "d.html", "n.md"])
    #expect(
      messages.map(\.metadata.contentType) == [
        "text/plain; charset=utf-8", "message/rfc822", "text/plain; charset=utf-8",
        "text/plain; charset=utf-8", "text/html; charset=utf-8", "text/plain; charset=utf-8",
      ])
    #expect(messages.allSatisfy { $0.text == $0.metadata.title && $0.metadata.date > 1_600_000_000 })
  }

  @Test(
    "UTF-8 without NUL is text whatever the file's name says; other content is what the ending says",
    arguments: [
      ("notes.org", "garden", "text/plain; charset=utf-8"), ("README", "x\n", "text/plain; charset=utf-8"),
      (".env", "A=1", "text/plain; charset=utf-8"), ("a.log", "Grüße \u{1F512}", "text/plain; charset=utf-8"),
      ("empty.bin", "", "text/plain; charset=utf-8"), ("really.pdf", "text", "text/plain; charset=utf-8"),
      ("a.json", "{}", "application/json"), ("a.xml", "<a/>", "application/xml"),
      ("a.csv", "a,b", "text/csv; charset=utf-8"), ("a.eml", "To: a\n\nb", "message/rfc822"),
      ("a.pdf", "%PDF\u{0}", "application/pdf"), ("a.org", "a\u{0}b", "application/octet-stream"),
      ("a.txt", "a\u{0}b", "text/plain; charset=utf-8"), ("none", "\u{0}", "application/octet-stream"),
    ])
  func types(name: String, content: String, type: String) {
    let bytes = Array(content.utf8)
    let found = MessageMetadata.contentType(ofFileNamed: name, bytes.span.bytes)
    #expect(found == type)
  }

  @Test("Bytes that are not UTF-8 are no text")
  func notUTF8() {
    for bytes: [UInt8] in [[0xFF], [0x61, 0xC3], [0xED, 0xA0, 0x80], Array("ä".utf8.dropLast())] {
      let isText = MessageMetadata.isText(bytes.span.bytes)
      let type = MessageMetadata.contentType(ofFileNamed: "x.org", bytes.span.bytes)
      #expect(!isText && type == "application/octet-stream")
    }
  }

  @Test("A type that is asked for is that of every file that metadata.jsonl gives none")
  func typeOfAll() throws {
    _ = scratch.write("d/a.txt", "a")
    _ = scratch.write("d/b.pdf", "b")
    _ = scratch.write(
      "d/metadata.jsonl", "{\"file\":\"b.pdf\",\"type\":\"text/x-b\"}\n{\"file\":\"a.txt\"}\n")
    var source = try DirectorySource(path: scratch.file("d"), contentType: "text/x-all")
    var types: [String] = []
    while try source.next({ metadata, _ in types.append(metadata.contentType) }) {}
    #expect(types == ["text/x-all", "text/x-b"])
  }

  @Test("metadata.jsonl describes files; flaws in it are told and do no harm")
  func metadata() throws {
    _ = scratch.write("d/a.bin", "A")
    _ = scratch.write("d/b.bin", "B")
    _ = scratch.write(
      "d/metadata.jsonl",
      "{\"file\":\"a.bin\",\"title\":\"t\",\"tags\":[\"x\"],"
        + "\"type\":\"text/plain\",\"date\":\"1970-01-01T00:00:01Z\"}\n"
        + "broken\n{\"file\":\"../../etc/passwd\"}\n{\"file\":\"a.bin\"}\n")
    let (messages, errors) = try Format.directory.read(scratch.file("d"))
    #expect(messages.map(\.metadata.title) == ["t", "b.bin"])
    #expect(
      messages.first?.metadata == MessageMetadata(title: "t", tags: ["x"], contentType: "text/plain", date: 1)
    )
    #expect(
      errors == [
        .malformed(entry: 2, what: "an object is expected"),
        .malformed(entry: 4, what: "a file is named twice"),
        .malformed(entry: 3, what: "metadata.jsonl names a file that is not there"),
      ])
    _ = scratch.write("e/metadata.jsonl", "{\"other\":1}\n")
    #expect(try Format.directory.read(scratch.file("e")).messages.map(\.metadata.title) == ["metadata.jsonl"])
  }

  @Test("a file above the limit is refused, the next one read")
  func tooLarge() throws {
    let path = scratch.write("d/a.bin", "")
    truncate(path, 70 << 20)
    _ = scratch.write("d/b.bin", "B")
    let (messages, errors) = try Format.directory.read(scratch.file("d"))
    #expect(messages.map(\.text) == ["B"])
    #expect(
      errors == [
        .entry(
          path: "a.bin", .messageTooLarge(byteCount: 70 << 20, limit: MessageLimits.messageByteCount))
      ])
  }

  @Test(
    "identifiers that are no file names are refused", arguments: ["", ".", "..", "a/b", "a\0", ".x", "ü"])
  func identifiers(_ id: String) throws {
    var sink = try DirectorySink(path: scratch.file("out"))
    #expect(throws: MessageFormatError.unsuitableIdentifier) {
      try sink.append(id: id, MessageMetadata(contentType: "a/b"), [UInt8]().span.bytes)
    }
  }

  @Test("files of an export are named by identifier and type")
  func names() throws {
    try Format.directory.write(
      [
        Message(MessageMetadata(contentType: "message/rfc822"), []),
        Message(MessageMetadata(contentType: "image/png"), []),
        Message(MessageMetadata(contentType: "text/x-odd"), []),
        Message(MessageMetadata(contentType: "odd"), []),
      ], to: scratch.file("out"))
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
    #expect(names == ["id-000000.eml", "id-000001.png", "id-000002.txt", "id-000003.bin", "metadata.jsonl"])
  }
}
