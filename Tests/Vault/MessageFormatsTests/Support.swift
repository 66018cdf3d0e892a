// SPDX-License-Identifier: Apache-2.0
//
// A folder that goes away, a generator with a fixed seed, and sources and sinks by name.

import Foundation
import MessageFormats
import Testing

/// A fresh folder for one test.
final class Scratch {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "/message-formats-" + UUID().uuidString
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ name: String, _ content: [UInt8]) -> String {
    let folder = (file(name) as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: file(name), contents: Data(content))
    return file(name)
  }

  func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

  func bytes(_ name: String) -> [UInt8] {
    FileManager.default.contents(atPath: file(name)).map { Array($0) } ?? []
  }

  var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }
}

struct Message: Equatable {
  var metadata: MessageMetadata
  var content: [UInt8]

  init(_ metadata: MessageMetadata, _ content: [UInt8]) {
    self.metadata = metadata
    self.content = content
  }

  init(_ metadata: MessageMetadata, _ content: RawSpan) {
    self.metadata = metadata
    self.content = content.withUnsafeBytes { Array($0) }
  }

  var text: String { String(decoding: content, as: UTF8.self) }
}

/// All messages of a source, and the errors that came between.
func readAll<S: MessageSource & ~Copyable>(_ source: inout S) -> (
  messages: [Message], errors: [MessageFormatError]
) {
  var messages: [Message] = []
  var errors: [MessageFormatError] = []
  while errors.count < 1000 {
    do {
      let more = try source.next { messages.append(Message($0, $1)) }
      if !more { break }
    } catch let error as MessageFormatError {
      errors.append(error)
    } catch {
      break
    }
  }
  return (messages, errors)
}

/// A seal that anybody could make who knows its number: enough to tell one coffer from another.
struct TestSeal: ExportSeal {
  var key: UInt64 = 1

  func code(headers: RawSpan, content: RawSpan) -> [UInt8] {
    var states: [UInt64] = [key, key &* 3, key &* 5, key &* 7]
    for part in [headers.byteCount, content.byteCount] { states[0] ^= UInt64(part) }
    for index in 0..<(headers.byteCount + content.byteCount) {
      let byte =
        index < headers.byteCount
        ? headers.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        : content.unsafeLoad(fromByteOffset: index - headers.byteCount, as: UInt8.self)
      states[index & 3] = (states[index & 3] ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return states.flatMap { state in (0..<8).map { UInt8(truncatingIfNeeded: state >> ($0 * 8)) } }
  }
}

enum Format: String, CaseIterable, CustomTestStringConvertible {
  case mbox, jsonLines, directory
  var testDescription: String { rawValue }

  func write(_ messages: [Message], to path: String) throws {
    func all<S: MessageSink & ~Copyable>(_ sink: inout S) throws {
      for (index, message) in messages.enumerated() {
        try sink.append(id: String(format: "id-%06d", index), message.metadata, message.content.span.bytes)
      }
      try sink.finish()
    }
    switch self {
    case .mbox:
      var sink = try MboxSink(path: path, seal: TestSeal())
      try all(&sink)
    case .jsonLines:
      var sink = try JSONLinesSink(path: path)
      try all(&sink)
    case .directory:
      var sink = try DirectorySink(path: path)
      try all(&sink)
    }
  }

  func read(_ path: String) throws -> (messages: [Message], errors: [MessageFormatError]) {
    switch self {
    case .mbox:
      var source = try MboxSource(path: path, seal: TestSeal())
      return readAll(&source)
    case .jsonLines:
      var source = try JSONLinesSource(path: path)
      return readAll(&source)
    case .directory:
      var source = try DirectorySource(path: path)
      return readAll(&source)
    }
  }
}

/// A search that has at least one word.
func query(_ arguments: [String], isAny: Bool = false) -> SearchQuery {
  do { return SearchQuery(try SearchExpression(arguments, isAny: isAny)) } catch {
    preconditionFailure("\(arguments): \(error)")
  }
}

/// False also for what is not a search.
func matches(_ words: [String], title: String = "", tags: [String] = [], type: String, _ content: [UInt8])
  -> Bool
{
  guard let expression = try? SearchExpression(words) else { return false }
  var query = SearchQuery(expression)
  return query.matches(MessageMetadata(title: title, tags: tags, contentType: type), content.span.bytes)
}

func matches(_ words: [String], title: String = "", tags: [String] = [], type: String, _ text: String) -> Bool
{
  matches(words, title: title, tags: tags, type: type, Array(text.utf8))
}
