// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of Specs/, read from the pages themselves: a fenced block whose opening line has a
// name behind the language, "```hex record". A test that reads them keeps page and code together.

import Foundation
import Repository

/// The named blocks of one page of Specs/.
public struct SpecExample {
  /// The page has no block of that name, two of them, or one that is not hexadecimal.
  public struct BadBlock: Error {
    public let name: String
  }

  private var blocks: [String: [String]] = [:]

  /// Reads `Specs/<page>`.
  public init(page: String) throws {
    let text = try String(contentsOf: Repository.root.appending(path: "Specs/\(page)"), encoding: .utf8)
    var name: String?
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.hasPrefix("```") {
        if let finished = name {
          blocks[finished, default: []].append(lines.joined(separator: "\n"))
          name = nil
        } else {
          name = line.split(separator: " ").dropFirst().joined(separator: " ")
          lines = []
        }
      } else if name != nil {
        lines.append(line)
      }
    }
  }

  /// The text of a block.
  public func text(_ name: String) throws -> String {
    guard let found = blocks[name], found.count == 1 else { throw BadBlock(name: name) }
    return found[0]
  }

  /// The bytes of a block of hexadecimal digits; white space counts for nothing.
  public func bytes(_ name: String) throws -> [UInt8] {
    let digits = try text(name).filter { !$0.isWhitespace }.map { $0.hexDigitValue }
    guard digits.count % 2 == 0, !digits.isEmpty else { throw BadBlock(name: name) }
    return try stride(from: 0, to: digits.count, by: 2).map { offset in
      guard let high = digits[offset], let low = digits[offset + 1] else { throw BadBlock(name: name) }
      return UInt8(high << 4 | low)
    }
  }
}
