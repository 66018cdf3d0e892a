// SPDX-License-Identifier: Apache-2.0
//
// Where the public test vectors are, how they are read, and how many rows of each file are ours. A test
// that reads fewer rows than it should fails: a parser that finds nothing proves nothing.

import Foundation
import Repository
import Testing

/// A file of vectors, with the number of rows that the test must find in it.
struct VectorFile: Sendable, CustomTestStringConvertible {
  let path: String
  /// Rows that we must get right.
  let ran: Int
  /// Rows outside what our functions take, by their documentation.
  let notApplicable: Int

  init(_ path: String, ran: Int, notApplicable: Int = 0) {
    self.path = path
    self.ran = ran
    self.notApplicable = notApplicable
  }

  var testDescription: String { path }

  /// `COFFER_VECTORS`, else `../shared/vectors` beside the package.
  static let folder: URL? = {
    let package = Repository.root
    let given = ProcessInfo.processInfo.environment["COFFER_VECTORS"].map { URL(filePath: $0) }
    let folder = given ?? package.deletingLastPathComponent().appending(path: "shared/vectors")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static let isPresent = folder != nil
  static let absence: Comment = "no vectors: set COFFER_VECTORS, or put them in ../shared/vectors"

  func contents() throws -> Data {
    try Data(contentsOf: try #require(Self.folder).appending(path: path))
  }

  func json<Content: Decodable>(_ type: Content.Type) throws -> Content {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: try contents())
  }

  /// Prints what was done and compares it with what should have been done.
  func report(
    ran: Int, notApplicable: Int = 0, note: String = "", location: SourceLocation = #_sourceLocation
  ) {
    print("vectors: \(path): \(ran) ran, \(notApplicable) not applicable\(note)")
    #expect(ran > 0 && ran == self.ran, sourceLocation: location)
    #expect(notApplicable == self.notApplicable, sourceLocation: location)
  }
}

/// The shape of a Wycheproof file. The sizes are in bits, and only where the algorithm has them.
struct Wycheproof<Row: Decodable>: Decodable {
  struct Group: Decodable {
    let ivSize: Int?
    let keySize: Int?
    let tagSize: Int?
    let tests: [Row]
  }
  let numberOfTests: Int
  let testGroups: [Group]
}

/// A record of a NIST response file: its own fields, over those that stand in brackets above it.
struct NISTRecord {
  var fields: [Substring: Substring]
  var isFailure = false

  func bytes(_ name: Substring) throws -> [UInt8] { try hexBytes(try #require(fields[name])) }
  func integer(_ name: Substring) throws -> Int { try #require(fields[name].flatMap { Int($0) }) }

  /// Records are separated by empty lines.
  static func all(in data: Data) -> [NISTRecord] {
    // NIST ends lines with CR LF, which Swift takes for one character.
    let text = String(decoding: data.filter { $0 != 0x0D }, as: UTF8.self)
    var header: [Substring: Substring] = [:]
    var records: [NISTRecord] = []
    for paragraph in text.split(separator: "\n\n") {
      var record = NISTRecord(fields: [:])
      for line in paragraph.split(separator: "\n") where !line.hasPrefix("#") {
        let parts = line.trimmingPrefix("[").split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if line == "FAIL" { record.isFailure = true }
        guard parts.count == 2 else { continue }
        let name = Substring(parts[0].trimmingCharacters(in: .whitespaces))
        let value = Substring(parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " ]")))
        if line.hasPrefix("[") { header[name] = value } else { record.fields[name] = value }
      }
      guard !record.fields.isEmpty else { continue }
      record.fields.merge(header) { own, _ in own }
      records.append(record)
    }
    return records
  }
}

struct BadHexadecimal: Error {}

func hexBytes(_ text: some StringProtocol) throws -> [UInt8] {
  let digits = Array(text.utf8)
  guard digits.count.isMultiple(of: 2) else { throw BadHexadecimal() }
  func value(_ digit: UInt8) throws -> UInt8 {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: throw BadHexadecimal()
    }
  }
  return try stride(from: 0, to: digits.count, by: 2).map {
    try value(digits[$0]) << 4 | value(digits[$0 + 1])
  }
}
