// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageFormats
import Testing

@Suite("JSON Lines")
struct JSONLinesTests {
  let scratch = Scratch()

  func read(_ text: String) throws -> (messages: [Message], errors: [MessageFormatError]) {
    try Format.jsonLines.read(scratch.write("in.jsonl", text))
  }

  @Test("only content is needed, the rest has defaults")
  func minimal() throws {
    let (messages, errors) = try read(
      "\u{FEFF}{\"content\":\"a\"}\r\n\n  \n"
        + "{\"content\":\"AP8=\",\"encoding\":\"base64\",\"x\":[1,{\"y\":null}]}"
    )
    #expect(errors.isEmpty)
    #expect(
      messages == [
        Message(MessageMetadata(contentType: MessageMetadata.noteType), [0x61]),
        Message(MessageMetadata(contentType: MessageMetadata.binaryType), [0, 255]),
      ])
  }

  @Test("all members and escapes are understood")
  func full() throws {
    let (messages, errors) = try read(
      #" { "ti\u0074le" : "a\u00fc\n" , "tags":["x","\ud83d\ude42"],"#
        + #""type":"text/html","date":"1970-01-01T01:00:00+01:00","id":7,"#
        + #""content":"\"\\\/\b\f\n\r\t\u0000ü\uD83D\uDE42\u20ac" } "#)
    #expect(errors.isEmpty)
    #expect(
      messages.first?.metadata
        == MessageMetadata(title: "aü\n", tags: ["x", "🙂"], contentType: "text/html", date: 0))
    #expect(messages.first?.text == "\"\\/\u{8}\u{C}\n\r\t\0ü🙂€")
  }

  @Test(
    "malformed lines are refused with their number, and the next line is read",
    arguments: [
      "{", "[]", "nonsense", "{}", "{\"content\":1}", "{\"content\":null}", "{\"content\":\"a}",
      "{\"content\":\"a\"}}",
      "{\"content\":\"a\",}", "{\"content\" \"a\"}", "{content:\"a\"}", "{\"content\":\"\\x\"}",
      "{\"content\":\"\\u12\"}",
      "{\"content\":\"\\ud800\"}", "{\"content\":\"\\udc00\"}", "{\"content\":\"\\ud800\\u0041\"}",
      "{\"content\":\"\t\"}", "{\"content\":\"a\",\"content\":\"b\"}",
      "{\"content\":\"a\",\"date\":\"yesterday\"}",
      "{\"content\":\"a\",\"date\":5}", "{\"content\":\"a\",\"tags\":\"x\"}",
      "{\"content\":\"a\",\"tags\":[1]}",
      "{\"content\":\"a\",\"encoding\":\"hex\"}", "{\"content\":\"a\",\"encoding\":\"base64\"}",
      "{\"content\":\"YQ\",\"encoding\":\"base64\"}", "{\"content\":\"YR==\",\"encoding\":\"base64\"}",
      "{\"content\":\"YQ==YQ==\",\"encoding\":\"base64\"}", "{\"content\":\"YQ= =\",\"encoding\":\"base64\"}",
      "{\"content\":\"a\",\"x\":01}", "{\"content\":\"a\",\"x\":1.}", "{\"content\":\"a\",\"x\":+1}",
      "{\"content\":\"a\",\"x\":tru}", "{\"content\":\"a\",\"x\":}", "{\"content\":\"a\"} {}",
      "{\"content\":\"a\\",
      "{\"content\":\"a\",\"x\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        + "}",
    ])
  func malformed(_ line: String) throws {
    let (messages, errors) = try read("{\"content\":\"first\"}\n\(line)\n{\"content\":\"last\"}\n")
    #expect(messages.map(\.text) == ["first", "last"])
    #expect(errors.count == 1)
    if case .malformed(entry: 2, _)? = errors.first {} else { Issue.record("no complaint about line 2") }
  }

  @Test("bytes that are not UTF-8 are refused")
  func notUTF8() throws {
    for bad in [[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] as [[UInt8]]
    {
      let path = scratch.write("bad.jsonl", Array("{\"content\":\"".utf8) + bad + Array("\"}\n".utf8))
      let (messages, errors) = try Format.jsonLines.read(path)
      #expect(messages.isEmpty)
      #expect(errors == [.malformed(entry: 1, what: "the line is not UTF-8")])
    }
  }

  @Test("the writer's form is fixed")
  func canonical() throws {
    try Format.jsonLines.write(
      [
        Message(
          MessageMetadata(title: "a\"b", tags: ["x", "y"], contentType: "text/plain", date: 0),
          Array("é\u{1}/\n".utf8)),
        Message(MessageMetadata(contentType: "a/b"), [0xFF]),
      ], to: scratch.file("out"))
    #expect(
      String(decoding: scratch.bytes("out"), as: UTF8.self) == #"""
        {"id":"id-000000","title":"a\"b","tags":["x","y"],"type":"text/plain","date":"1970-01-01T00:00:00Z",\#
        "encoding":"base64","content":"w6kBLwo="}
        {"id":"id-000001","title":"","tags":[],"type":"a/b","date":"1970-01-01T00:00:00Z",\#
        "encoding":"base64","content":"/w=="}

        """#)
    try Format.jsonLines.write(
      [Message(MessageMetadata(contentType: "text/plain"), Array("plain é text\n".utf8))],
      to: scratch.file("text"))
    #expect(
      String(decoding: scratch.bytes("text"), as: UTF8.self).hasSuffix(
        #""encoding":"utf-8","content":"plain é text\n"}"# + "\n"))
  }

  @Test("a line above the limit is passed over and its size told")
  func tooLarge() throws {
    var bytes = Array("{\"content\":\"a\"}\n{\"content\":\"".utf8)
    bytes += [UInt8](repeating: 0x61, count: 100 << 20)
    bytes += Array("\"}\n{\"content\":\"b\"}\n{\"content\":\"".utf8)
    bytes += [UInt8](repeating: 0x61, count: 65 << 20)
    bytes += Array("\"}\n{\"content\":\"c\"}\n".utf8)
    let (messages, errors) = try Format.jsonLines.read(scratch.write("large.jsonl", bytes))
    #expect(messages.map(\.text) == ["a", "b", "c"])
    #expect(errors.count == 2)
    for error in errors {
      if case .messageTooLarge = error {} else { Issue.record("another error") }
    }
  }
}
