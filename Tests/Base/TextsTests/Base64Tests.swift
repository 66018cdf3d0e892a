// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Texts

@Suite("Base64")
struct Base64Tests {
  private static func octets(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
  }

  private func encoded(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0x2E, count: Base64.characterCount(byteCount: bytes.count) + 2)
    var span = text.mutableSpan
    var output = span.mutableBytes
    Base64.encode(bytes.span.bytes, into: &output, at: 1)
    return String(decoding: text, as: UTF8.self)
  }

  /// Both ways of decoding a whole text, which must agree.
  private func decoded(_ text: String, _ strictness: Base64.Strictness) -> [UInt8]? {
    let characters = Array(text.utf8)
    var (inPlace, output) = (characters, [UInt8](repeating: 0, count: characters.count / 4 * 3 + 3))
    var span = inPlace.mutableSpan
    var bytes = span.mutableBytes
    let count = Base64.decodeInPlace(&bytes, strictness)
    var otherSpan = output.mutableSpan
    var otherBytes = otherSpan.mutableBytes
    let other = Base64.decode(characters.span.bytes, into: &otherBytes, strictness)
    #expect(count == other)
    guard let count else { return nil }
    #expect(inPlace.prefix(count) == output.prefix(count))
    return Array(inPlace.prefix(count))
  }

  @Test("What is encoded is what the system encodes, and decodes again, whatever the length")
  func lengths() {
    for count in Array(0..<100) + [3000, 4001] {
      let (bytes, text) = (Self.octets(count), Data(Self.octets(count)).base64EncodedString())
      #expect(encoded(bytes) == ".\(text).")
      for strictness in [Base64.Strictness.exact, .lines, .lenient] {
        #expect(decoded(text, strictness) == bytes)
      }
    }
  }

  @Test(
    "Exactly, nothing but the alphabet and correct padding is base64",
    arguments: [
      "YQ", "YQ=", "YQ===", "YR==", "YWJ=", "Y", "Y===", "=", "====", "YQ==YQ==", "YQ= =", "YWJj=",
      "YWJj====",
      "YW\nJj", "YWJj\n", "YW-j", "-YWJ", "YWJjYWJj!", "YWJjYWJjYWJjYWJé",
    ])
  func refused(_ text: String) {
    #expect(decoded(text, .exact) == nil)
    if !text.contains("\n") { #expect(decoded(text, .lines) == nil) }
  }

  @Test("Line ends are passed over where lines are allowed, blanks are not")
  func lines() {
    #expect(decoded("YW\r\nJj\nYQ=\n=\n", .lines) == Array("abca".utf8))
    #expect(decoded("YWJj \n", .lines) == nil)
    #expect(decoded("YQ==\n ", .lines) == nil)
    #expect(decoded("\n\n", .lines)?.isEmpty == true)
  }

  @Test(
    "Leniently, whatever mail brings is read",
    arguments: [
      ("YQ", "a"), ("YQ=", "a"), ("YQ===", "a"), ("YR==", "a"), ("YQ==YmM=", "abc"), ("Y", ""), ("=", ""),
      ("Y=YWJj", "abc"), ("-- YW J\u{0}j --", "abc"), ("YWJjé", "abc"), ("", ""),
      ("YWJjYWJjYWJjY", "abcabcabc"),
    ] as [(String, String)])
  func lenient(_ text: String, _ bytes: String) {
    #expect(decoded(text, .lenient).map { String(decoding: $0, as: UTF8.self) } == bytes)
  }

  /// What the pieces of a stream decode to, and why the decoder stopped.
  private func streamed(
    _ text: String, pieceByteCount: Int, room: Int
  ) -> (bytes: [UInt8], stop: Base64Decoder.Stop, rest: [UInt8]?) {
    var decoder = Base64Decoder()
    var (left, bytes) = (Array(text.utf8)[...], [UInt8]())
    while true {
      let piece = Array(left.prefix(pieceByteCount))
      var output = [UInt8](repeating: 0, count: room)
      var span = output.mutableSpan
      var raw = span.mutableBytes
      let step = decoder.decode(piece.span.bytes, into: &raw)
      left = left.dropFirst(step.consumed)
      bytes += output.prefix(step.produced)
      if step.stop == .outputFull || step.stop == .inputEnd && !left.isEmpty { continue }
      return (bytes, step.stop, decoder.takeRest())
    }
  }

  @Test(
    "A stream is read in pieces of any size, into any room", arguments: [1, 3, 8, 100], [3, 8, 17, 4096])
  func stream(pieceByteCount: Int, room: Int) {
    let bytes = Self.octets(500)
    let options: Data.Base64EncodingOptions = [
      .lineLength64Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
    ]
    let text = Data(bytes).base64EncodedString(options: options)
    let result = streamed(" \t" + text, pieceByteCount: pieceByteCount, room: room)
    #expect(result.bytes + (result.rest ?? []) == bytes && result.stop == .equals)
  }

  @Test("A stream stops at what does not belong in it")
  func stops() {
    #expect(streamed("YWJj\n-----", pieceByteCount: 100, room: 64).stop == .hyphen)
    #expect(streamed("YWJj-----", pieceByteCount: 100, room: 64).stop == .foreign)
    #expect(streamed("YWJj\n=abcd", pieceByteCount: 100, room: 64).stop == .equals)
    #expect(streamed("YWJj*", pieceByteCount: 100, room: 64).stop == .foreign)
    // Bits that no byte is made of are no rest.
    #expect(streamed("YR==", pieceByteCount: 100, room: 64).rest == nil)
    #expect(streamed("Y=", pieceByteCount: 100, room: 64).rest == nil)
  }

  @Test("Lines are those of the system")
  func encodedLines() {
    for lineCount in [0, 1, 2, 7] {
      let bytes = Self.octets(lineCount * Base64.lineByteCount)
      var text = [UInt8](repeating: 0, count: lineCount * Base64.lineTextByteCount)
      var span = text.mutableSpan
      var output = span.mutableBytes
      Base64.encodeLines(bytes.span.bytes, into: &output)
      let options: Data.Base64EncodingOptions = [.lineLength64Characters, .endLineWithLineFeed]
      let end = lineCount == 0 ? "" : "\n"
      #expect(
        String(decoding: text, as: UTF8.self) == Data(bytes).base64EncodedString(options: options) + end)
    }
  }

  /// Vectors take 32 characters at a time: each value at each place of them.
  @Test("A foreign character stops a stream where it is, wherever it is")
  func foreignAnywhere() {
    let line = Array(Data(Self.octets(Base64.lineByteCount)).base64EncodedString().utf8)
    let alphabet = Set(Base64.alphabet)
    let skipped = Set(" \t\r\n".utf8)
    for place in line.indices {
      for value in UInt8.min...UInt8.max where value != line[place] {
        var (text, output) = (line, [UInt8](repeating: 0, count: 3 * line.count))
        text[place] = value
        var decoder = Base64Decoder()
        var span = output.mutableSpan
        var raw = span.mutableBytes
        let step = decoder.decode(text.span.bytes, into: &raw)
        if alphabet.contains(value) || skipped.contains(value) {
          #expect(step.stop == .inputEnd && step.consumed == line.count, "\(value) at \(place)")
        } else {
          #expect(step.stop != .inputEnd && step.consumed == place, "\(value) at \(place)")
        }
        let whole = min(step.produced, place / 4 * 3)
        #expect(output.prefix(whole) == Self.octets(Base64.lineByteCount).prefix(whole))
      }
    }
  }

  @Test("A hyphen after a line end that vectors have passed over is at the beginning of a line")
  func lineStarts() {
    let line = String(repeating: "YWJj", count: 16)
    #expect(streamed(line + "\n-", pieceByteCount: 500, room: 4096).stop == .hyphen)
    #expect(streamed(line + "\n" + line + "-", pieceByteCount: 500, room: 4096).stop == .foreign)
    #expect(decoded(line + "\n" + line, .exact) == nil)
    #expect(decoded(line + "\n" + line, .lines)?.count == 96)
  }
}
