// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import MessageFormats
import SeededGenerators
import Testing
import Texts

@Suite("Exports come back exactly")
struct RoundTripTests {
  static let nasty: [[UInt8]] = [
    [], [0], [10], [13], [13, 10], [10, 10, 10], Array("From x".utf8), Array("From x\n".utf8),
    Array(">From x\n".utf8), Array("\nFrom a\n\n>From b\n\n>>From c\n\n".utf8),
    Array("Subject: x\n\nFrom me to you\n>From them\n>>>From all".utf8),
    Array("Subject: x\n\nbody\n\n\n\n".utf8), Array("Subject: x\r\n\r\nCRLF\r\n\r\nFrom y\r\n".utf8),
    Array("Subject: x\n\nends in CR\n\r".utf8), Array("Subject: x".utf8), Array("a:".utf8), Array(":".utf8),
    Array("Subject: x\n\n\nFrom nobody Thu Jan  1 00:00:00 1970\n\n".utf8),
    Array("X-Coffer-Export: 1; content=base64\nX-Coffer-Title: a\n\nbody".utf8),
    Array(" leading blank\n".utf8), Array("no header at all".utf8), [0xFF, 0xFE, 0x0A, 0x80],
    Array("Subject: a\0b\n\n".utf8), Array("\u{FEFF}bom".utf8), Array("\"\\\u{8}\u{C}\t\u{1F}/".utf8),
    Array("a:b\n\n>".utf8), Array("a:b\n\n>>>>".utf8), Array("a:b\nFrom ".utf8),
    Array("a:b\n>From \n\r\n".utf8),
  ]
  static let types = [
    "message/rfc822", "text/plain; charset=utf-8", "application/octet-stream", "", "x\r\ny",
  ]
  static let titles = [
    "", "plain", "Grüße, 100 % =?utf-8?Q?x?=", "line\nbreak\r\n\tand\0zero", " blanks ", "日本語🙂",
  ]
  static let tagLists: [[String]] = [[], [""], ["a", "b,c"], ["", "", "ü n\n"], ["\"\\"]]

  @Test("every nasty content survives every format with every type", arguments: Format.allCases)
  func nasty(_ format: Format) throws {
    let scratch = Scratch()
    var messages: [Message] = []
    for (index, content) in Self.nasty.enumerated() {
      for type in Self.types {
        let pick = messages.count
        messages.append(
          Message(
            MessageMetadata(
              title: Self.titles[pick % Self.titles.count], tags: Self.tagLists[pick % Self.tagLists.count],
              contentType: type, date: Int64(index) * 86_399_999 - 1_000_000_000), content))
      }
    }
    try format.write(messages, to: scratch.file("out"))
    let (back, errors) = try format.read(scratch.file("out"))
    #expect(errors.isEmpty)
    #expect(back.count == messages.count)
    for (one, other) in zip(messages, back) { #expect(one == other) }
  }

  @Test("generated contents survive every format", arguments: Format.allCases)
  func generated(_ format: Format) throws {
    let pieces: [[UInt8]] = [
      Array("From ".utf8), Array(">From ".utf8), [10], [13, 10], [13], [0], Array("Subject: x\n".utf8),
      Array("word ".utf8), [0xC3, 0xBC], [0xC3], [62], Array("\n\n".utf8), Array("\n\nFrom z\n".utf8), [34],
      [92],
      Array("X-Coffer-Export: 1; content=base64\n".utf8), [0xF0, 0x9F, 0x99, 0x82],
    ]
    var random = SeededGenerator(run: 7)
    var messages: [Message] = []
    for _ in 0..<1500 {
      var content: [UInt8] = Bool.random(using: &random) ? Array("Subject: a\n\n".utf8) : []
      for _ in 0..<Int.random(in: 0...12, using: &random) { content += pieces.randomElement(using: &random)! }
      messages.append(
        Message(
          MessageMetadata(
            title: Self.titles.randomElement(using: &random)!,
            tags: Self.tagLists.randomElement(using: &random)!,
            contentType: Self.types.randomElement(using: &random)!,
            date: Int64.random(in: CivilTime.representable, using: &random)), content))
    }
    try format.write(messages, to: scratch.file("out"))
    let (back, errors) = try format.read(scratch.file("out"))
    #expect(errors.isEmpty)
    #expect(back == messages)
  }
  let scratch = Scratch()

  @Test(
    "large contents cross the edges of the buffers",
    arguments: Shares("large contents", count: 4).of(Format.allCases))
  func large(_ format: Format) throws {
    var random = SeededGenerator(run: 3)
    var messages: [Message] = []
    for size in [1 << 20, 2 << 20, (2 << 20) - 5, 300_000, 5_000_000, 262_143, 20 << 20] {
      var content = Array("Subject: large\n\n".utf8)
      while content.count < size {
        content += Array("a line of text \(content.count)\n".utf8)
        if UInt8.random(in: 0...9, using: &random) == 0 { content += Array("\nFrom somebody\n".utf8) }
      }
      messages.append(Message(MessageMetadata(contentType: "message/rfc822"), content))
      messages.append(Message(MessageMetadata(contentType: "image/png"), content.map { $0 &+ 200 }))
    }
    try format.write(messages, to: scratch.file("out"))
    let (back, errors) = try format.read(scratch.file("out"))
    #expect(errors.isEmpty)
    #expect(back == messages)
  }

  @Test("long titles and many tags are folded and come back", arguments: Format.allCases)
  func longMetadata(_ format: Format) throws {
    let metadata = MessageMetadata(
      title: String(repeating: "ü", count: MessageLimits.titleByteCount / 2),
      tags: (0..<MessageLimits.tagCount).map { "tag \($0) " + String(repeating: "x", count: 900) },
      contentType: "message/rfc822", date: 5)
    let messages = [Message(metadata, Array("a: b\n\nc\n".utf8)), Message(metadata, [1, 2])]
    try format.write(messages, to: scratch.file("out"))
    #expect(try format.read(scratch.file("out")).messages == messages)
    if format == .mbox {
      let longest = scratch.bytes("out").split(separator: 10).map(\.count).max() ?? 0
      #expect(longest <= 998)
    }
  }

  @Test("metadata beyond the limits is refused before anything is written", arguments: Format.allCases)
  func bounds(_ format: Format) {
    let tooLong = MessageMetadata(
      title: String(repeating: "a", count: MessageLimits.titleByteCount + 1), contentType: "text/plain")
    #expect(throws: MessageFormatError.metadataOutOfBounds("title")) {
      try format.write([Message(tooLong, [])], to: scratch.file("out"))
    }
    let late = MessageMetadata(contentType: "text/plain", date: .max)
    #expect(throws: MessageFormatError.metadataOutOfBounds("date")) {
      try format.write([Message(late, [])], to: scratch.file("out"))
    }
    #expect(scratch.names.isEmpty)
  }

  @Test(
    "an export never overwrites, has private modes, and leaves nothing when it is dropped",
    arguments: Format.allCases)
  func files(_ format: Format) throws {
    let message = Message(MessageMetadata(contentType: "text/plain"), [65])
    let path = scratch.file("out")
    try format.write([message], to: path)
    #expect(throws: MessageFormatError.alreadyExists) { try format.write([message], to: path) }
    let mode = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    #expect(mode == (format == .directory ? 0o700 : 0o600))
    #expect(scratch.names == ["out"])
    do {
      switch format {
      case .mbox:
        var sink = try MboxSink(path: scratch.file("gone"), seal: TestSeal())
        try sink.append(id: "a", message.metadata, message.content.span.bytes)
        #expect(scratch.names == ["out"])
      case .jsonLines:
        var sink = try JSONLinesSink(path: scratch.file("gone"))
        try sink.append(id: "a", message.metadata, message.content.span.bytes)
      case .directory:
        var sink = try DirectorySink(path: scratch.file("gone"))
        try sink.append(id: "a", message.metadata, message.content.span.bytes)
        #expect(scratch.names.count == 2)
        #expect(scratch.names.contains { $0.hasPrefix("coffer-unfinished-") })
      }
    }
    #expect(scratch.names == ["out"])
    #expect(throws: MessageFormatError.notFound) {
      try format.write([], to: scratch.file("no/such/folder/out"))
    }
    #expect(throws: MessageFormatError.notFound) { try format.read(scratch.file("missing")) }
  }

  @Test("a target that appears meanwhile is left alone", arguments: Format.allCases)
  func race(_ format: Format) throws {
    let path = scratch.file("out")
    func finish<S: MessageSink & ~Copyable>(_ sink: inout S) {
      _ = scratch.write("out", "mine")
      #expect(throws: MessageFormatError.alreadyExists) { try sink.finish() }
    }
    switch format {
    case .mbox:
      var sink = try MboxSink(path: path, seal: TestSeal())
      finish(&sink)
    case .jsonLines:
      var sink = try JSONLinesSink(path: path)
      finish(&sink)
    case .directory:
      var sink = try DirectorySink(path: path)
      finish(&sink)
    }
    #expect(String(decoding: scratch.bytes("out"), as: UTF8.self) == "mine")
  }
}
