// SPDX-License-Identifier: Apache-2.0
//
// Segments in a folder that goes away, messages made at random, and the search through messages that the index is
// compared with.

import Foundation
import MessageFormats
import Primitives
import Secrets
import SeededGenerators
import Storage
import TemporaryHomes
import Testing

@testable import SearchIndex

/// A message as a row has it; nil metadata for one that does not open.
struct Message {
  var number: Int64
  var id = RecordID()
  var timestamp: Int64
  var metadata: MessageMetadata?
  var content: [UInt8]
}

/// A folder with segments.
final class SegmentFolder {
  let home: TemporaryHome
  let file: DatabaseFile
  let key = [UInt8](repeating: 0x42, count: 32)

  init() throws {
    home = try TemporaryHome()
    file = try DatabaseFile.create(home: home.path) { _ in }
  }

  var files: BlobFiles { file.searchFiles }

  func path(_ id: BlobName) -> String {
    home.path + "/search/" + id.bytes.map { String(format: "%02x", $0) }.joined()
  }

  func build(_ messages: [Message], seed: SegmentSeed = SegmentSeed()) throws -> SegmentDescription {
    let key = key
    var builder = try SegmentBuilder(files: files, keyVersion: 1, vaultKey: key.span.bytes, seed: seed)
    for message in messages { try builder.append(message) }
    return try builder.finish()
  }

  func open(_ description: SegmentDescription) throws -> SegmentReader {
    let key = key
    return try SegmentReader(description, files: files, vaultKey: key.span.bytes)
  }

  func merge(_ segments: [(reader: SegmentReader, marked: [UInt32])]) throws -> SegmentDescription? {
    let key = key
    // Lists at once, and in pieces.
    return try SegmentMerger.merge(
      segments, files: files, keyVersion: 1, vaultKey: key.span.bytes, seed: SegmentSeed(),
      listByteCountInMemory: segments.count % 2 == 0 ? 0 : 1 << 20)
  }
}

extension SegmentBuilder {
  mutating func append(_ message: Message) throws {
    guard let metadata = message.metadata else {
      return try appendUnreadable(number: message.number, id: message.id, timestamp: message.timestamp)
    }
    try append(
      number: message.number, id: message.id, timestamp: message.timestamp, metadata: metadata,
      content: message.content.span.bytes)
  }
}

/// What a search through the messages finds, newest first.
func scanned(_ messages: [Message], _ expression: SearchExpression) -> [Int64] {
  var query = SearchQuery(expression)
  return messages.reversed().filter { message in
    message.metadata.map { query.matches($0, message.content.span.bytes) } ?? false
  }.map(\.number)
}

/// What a segment finds, newest first.
func indexed(
  _ reader: SegmentReader, _ messages: [Message], _ expression: SearchExpression, except marked: [UInt32] = []
) throws -> [Int64] {
  var query = SearchQuery(expression)
  let byNumber = Dictionary(uniqueKeysWithValues: messages.map { ($0.number, $0) })
  let ordinals = try reader.ordinals(expression, except: marked) { _, number in
    guard let message = byNumber[number] else { return false }
    return message.metadata.map { query.matches($0, message.content.span.bytes) } ?? false
  }
  var numbers: [Int64] = []
  try reader.forEachRow(of: ordinals) { numbers.append($0.number) }
  #expect(numbers.count == ordinals.count)
  return numbers.reversed()
}

extension SegmentReader {
  /// Lends the rows of some ordinals, or all, rising.
  func forEachRow(of ordinals: [UInt32]? = nil, _ body: (borrowing SegmentRow) throws -> Void) throws {
    let all = (0..<UInt32(documentCount)).map { $0 }
    for group in groups(of: ordinals ?? all) { try forEachRow(of: group, body) }
  }
}

/// Messages of all kinds, made of few words, so that searches find several of them.
enum Corpus {
  static let words = [
    "garden", "Gardens", "gard", "en", "lease", "Straße", "e\u{301}té", "Łódź", "日本語", "日本", "本",
    "か\u{3099}き", "한국어",
    "ภาษาไทย", "ที่นี่", "हिन्दी", "שָׁלוֹם", "أَحْمَد", "🎉", "go🎉🎉5", "l'été", "don’t", "O'Neil", "2024", "x", "ИЗЁ",
    "Ἀθῆναι", "a=\u{338}b",
    "日\u{301}本", "\u{301}", "12日a", "ann@example.org", "https://example.org/a-b", "ﬁne", "ｶﾞ", "Việt",
  ]
  static let separators = [" ", " ", " ", " ", "\n", ", ", "-", ". ", "', '", ""]
  static let types = [
    "text/plain", "text/plain; charset=utf-8", "text/markdown; charset=utf-8", "TEXT/HTML", "application/pdf",
    "application/json",
  ]

  static func text(_ random: inout SeededGenerator, _ count: Int) -> String {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in
      words.randomElement(using: &random)! + separators.randomElement(using: &random)!
    }.joined()
  }

  static func line(_ random: inout SeededGenerator) -> String { text(&random, 4).replacing("\n", with: " ") }

  static func message(_ number: Int64, _ random: inout SeededGenerator) -> Message {
    let date = Int64.random(in: -100_000_000...2_000_000_000, using: &random)
    let tags = (0..<Int.random(in: 0...2, using: &random)).map { _ in line(&random) }
    var metadata = MessageMetadata(
      title: line(&random), tags: tags, contentType: types.randomElement(using: &random)!, date: date)
    var content = Array(text(&random, 40).utf8)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9:
      metadata.contentType = [MessageMetadata.mailType, "message/rfc822; x=y"].randomElement(using: &random)!
      let isSubject = Bool.random(using: &random)
      content = mail(isSubject ? metadata.title : line(&random), &random)
    case 9: content = (0..<20).map { _ in UInt8.random(in: 0...255, using: &random) }
    case 10:
      // A word that no term holds; without it the text is found all the same.
      content += Array(String(repeating: "garden", count: Int.random(in: 40...50, using: &random)).utf8)
    case 11: metadata.tags.append(String(repeating: "日本 ", count: 40) + line(&random))
    case 12: content += Array(String(repeating: "日本語", count: 200).utf8)
    default: break
    }
    let isReadable = Int.random(in: 0..<40, using: &random) > 0
    return Message(
      number: number, timestamp: 1_700_000_000 + number, metadata: isReadable ? metadata : nil,
      content: content)
  }

  static func mail(_ subject: String, _ random: inout SeededGenerator) -> [UInt8] {
    let head = "From: \(line(&random))\nTo: \(line(&random))\nCc: \(line(&random))\nSubject: \(subject)\n"
    let body = text(&random, 30)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return Array((head + "Content-Type: text/plain; charset=utf-8\n\n" + body).utf8)
    case 1:
      let html = "<html><p>\(body)<b>gar</b>den</p><script>lease</script></html>"
      return Array((head + "Content-Type: text/html; charset=utf-8\n\n" + html).utf8)
    default:
      let parts =
        "--b\nContent-Type: text/plain; charset=utf-8\n\n\(body)\n--b\nContent-Type: application/pdf; name=\"lease \(line(&random)).pdf\"\n\nAAAA\n--b--\n"
      return Array((head + "Content-Type: multipart/mixed; boundary=b\n\n" + parts).utf8)
    }
  }

  static func messages(_ count: Int, _ random: inout SeededGenerator) -> [Message] {
    var number: Int64 = 0
    return (0..<count).map { _ in
      number += Int64.random(in: 1...3, using: &random)
      return message(number, &random)
    }
  }

  /// A search of the whole grammar, mostly of words that are there.
  static func arguments(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      (Int.random(in: 0..<4, using: &random) == 0 ? "-" : "") + argument(&random)
    }
  }

  private static func argument(_ random: inout SeededGenerator) -> String {
    let text = Array((text(&random, 3) + words.randomElement(using: &random)!).unicodeScalars)
    let start = Int.random(in: 0..<text.count, using: &random)
    let end = Int.random(in: start + 1...min(text.count, start + 12), using: &random)
    let piece = String(String.UnicodeScalarView(text[start..<end]))
    let word = Bool.random(using: &random) ? piece : words.randomElement(using: &random)!
    let term = [word, word, word, word + "*", "=" + word, "\"\(word)\""].randomElement(using: &random)!
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return "tag:" + word
    case 1: return "tag:\(word)*"
    case 2:
      return [
        "date:..2001", "after:2001", "date:1999-03..2014-05", "before:1990", "is:mail", "type:text/*",
        "type:text/html",
        "type:application/pdf", "has:attachment", "type:message/*",
      ].randomElement(using: &random)!
    case 3...6: return ["from:", "to:", "title:"].randomElement(using: &random)! + term
    default: return term
    }
  }
}
