// SPDX-License-Identifier: Apache-2.0
//
// The tables of Tests/Vectors; README.md there describes them. A table that is missing, empty or cut throws:
// a test that finds nothing proves nothing.

public import Foundation
import Repository

/// A file of published test vectors.
public struct VectorTable: Sendable {
  /// What the file says of itself: `set`, `origin`, `version`, `licence`, `rows`.
  public let header: [String: String]
  /// One at least.
  public let rows: [VectorRow]

  /// Reads `Tests/Vectors/NAME.vectors`.
  public init(_ name: String) throws {
    let text = String(decoding: try VectorFiles.contents(name + ".vectors"), as: UTF8.self)
    try self.init(text: text, name: name)
  }

  /// - Parameter name: names the table in errors.
  public init(text: String, name: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let gap = lines.firstIndex(of: ""), gap + 1 < lines.endIndex, lines.last == "" else {
      throw VectorFault("\(name): no header, or the last line is cut")
    }
    var header: [String: String] = [:]
    for line in lines[..<gap] {
      guard let colon = line.firstRange(of: ": ") else { throw VectorFault("\(name): \(line)") }
      header[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
    }
    let columns = Self.cells(lines[gap + 1])
    var rows: [VectorRow] = []
    var above: [Substring] = []
    for line in lines[(gap + 2)...].dropLast() {
      var cells = Self.cells(line)
      guard cells.count == columns.count else { throw VectorFault("\(name), row \(rows.count + 1): \(line)") }
      for index in cells.indices {
        switch cells[index] {
        case "-": cells[index] = ""
        case "\"" where !above.isEmpty: cells[index] = above[index]
        case let edits where edits.hasPrefix("\"") && !above.isEmpty:
          let place = "\(name), row \(rows.count + 1)"
          cells[index] = try Self.edited(above[index], by: edits.dropFirst(), place: place)[...]
        default: break
        }
      }
      above = cells
      let fields = Dictionary(uniqueKeysWithValues: zip(columns.map(String.init), cells.map(String.init)))
      rows.append(VectorRow(place: "\(name), row \(rows.count + 1)", fields: fields))
    }
    guard !rows.isEmpty, header["rows"] == "\(rows.count)" else {
      throw VectorFault("\(name): \(rows.count) rows, and the header says \(header["rows"] ?? "nothing")")
    }
    self.header = header
    self.rows = rows
  }

  /// The value above with other bytes: `6=ff,100=00`.
  private static func edited(_ above: Substring, by edits: Substring, place: String) throws -> String {
    var bytes = try VectorRow.bytes(above)
    for edit in edits.split(separator: ",") {
      let parts = edit.split(separator: "=")
      guard parts.count == 2, let offset = Int(parts[0]), bytes.indices.contains(offset),
        let byte = UInt8(parts[1], radix: 16)
      else { throw VectorFault("\(place): \(edits)") }
      bytes[offset] = byte
    }
    return "=" + Data(bytes).base64EncodedString()
  }

  private static func cells(_ line: Substring) -> [Substring] {
    line.split(separator: "\t", omittingEmptySubsequences: false)
  }
}

/// A row of a table: its cells by the names of their columns.
public struct VectorRow: Sendable, CustomStringConvertible {
  let place: String
  let fields: [String: String]

  /// The table, and the row's number or `id`.
  public var description: String { fields["id"].map { "\(place), id \($0)" } ?? place }

  /// A cell as it is written; empty where it is `-`.
  public func text(_ column: String) throws -> String {
    guard let text = fields[column] else { throw VectorFault("\(place) has no column \(column)") }
    return text
  }

  /// A cell of hexadecimal digits, or of base64 behind `=`.
  public func bytes(_ column: String) throws -> [UInt8] {
    do { return try Self.bytes(try text(column)[...]) } catch {
      throw VectorFault("\(place): \(column) is neither hexadecimal nor base64")
    }
  }

  static func bytes(_ cell: Substring) throws -> [UInt8] {
    guard cell.hasPrefix("=") else { return try hexBytes(cell) }
    guard let data = Data(base64Encoded: String(cell.dropFirst())) else {
      throw VectorFault("not base64")
    }
    return [UInt8](data)
  }

  /// A cell of decimal digits.
  public func integer(_ column: String) throws -> Int {
    guard let number = Int(try text(column)) else { throw VectorFault("\(place): \(column) is not a number") }
    return number
  }

  /// Whether the column `result` is `valid`.
  public var isValid: Bool { fields["result"] == "valid" }

  /// Whether the column `flags` has this word.
  public func has(flag: String) -> Bool {
    fields["flags"]?.split(separator: ",").contains { $0 == flag } ?? false
  }
}

/// Files of Tests/Vectors.
public enum VectorFiles {
  /// The folder of all vectors.
  public static let folder = Repository.root.appending(path: "Tests/Vectors")

  /// A file, by its path below Tests/Vectors.
  public static func contents(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: path)))
  }
}

/// What is wrong with a table, and where.
public struct VectorFault: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Bytes from hexadecimal digits, two each.
public func hexBytes(_ text: some StringProtocol) throws -> [UInt8] {
  let digits = try text.utf8.map { digit -> UInt8 in
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: throw VectorFault("a character is not a hexadecimal digit")
    }
  }
  guard digits.count.isMultiple(of: 2) else { throw VectorFault("an odd number of hexadecimal digits") }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
