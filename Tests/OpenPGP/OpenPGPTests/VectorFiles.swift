// SPDX-License-Identifier: Apache-2.0
//
// Where the published test vectors are, and how they are read. A test that finds fewer rows than it should
// fails: a parser that finds nothing proves nothing.

import Foundation
import Repository
import Testing

/// The published vectors: `COFFER_VECTORS`, else `../shared/vectors` beside the package.
enum VectorFiles {
  static let folder: URL? = {
    let package = Repository.root
    let given = ProcessInfo.processInfo.environment["COFFER_VECTORS"].map { URL(filePath: $0) }
    let folder = given ?? package.deletingLastPathComponent().appending(path: "shared/vectors")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static let arePresent = folder != nil
  static let absence: Comment = "no vectors: set COFFER_VECTORS, or put them in ../shared/vectors"

  static func contents(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: try #require(folder).appending(path: path)))
  }

  static func json<Content: Decodable>(_ path: String, as type: Content.Type) throws -> Content {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(try contents(path)))
  }
}

/// A Wycheproof file with groups that share something, such as a key, and rows.
struct WycheproofFile<Group: Decodable>: Decodable {
  let numberOfTests: Int
  let testGroups: [Group]
}

/// Bytes from hexadecimal digits.
func hexadecimal(_ text: String) throws -> [UInt8] {
  let digits = Array(text.utf8)
  return try stride(from: 0, to: digits.count, by: 2).map { place in
    let pair = String(decoding: digits[place..<place + 2], as: UTF8.self)
    return try #require(UInt8(pair, radix: 16))
  }
}
