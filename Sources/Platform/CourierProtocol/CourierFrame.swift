// SPDX-License-Identifier: Apache-2.0
//
// Frames (Specs/courier.md) and the fields in them. Each field is read with its limit, and a body is read to its end.

internal import Secrets

/// Bytes that are not a frame of the protocol. Who reads them ends the conversation.
package struct CourierProtocolError: Error, Equatable {
  package init() {}
}

/// The head of a frame.
package struct CourierHead: Equatable, Sendable {
  package static let byteCount = 9
  /// An object, its name, and what describes the two.
  package static let bodyByteCountLimit = 64 << 20 + 1_024

  package let kind: UInt8
  package let number: UInt32
  package let bodyByteCount: Int

  package init(kind: UInt8, number: UInt32, bodyByteCount: Int) {
    precondition((0...Self.bodyByteCountLimit).contains(bodyByteCount), "a body is within its limit")
    self.kind = kind
    self.number = number
    self.bodyByteCount = bodyByteCount
  }

  package init(_ bytes: [UInt8]) throws(CourierProtocolError) {
    var reader = FieldReader(bytes)
    kind = try reader.byte()
    number = UInt32(try reader.number(4))
    bodyByteCount = Int(try reader.number(4))
    guard bodyByteCount <= Self.bodyByteCountLimit else { throw CourierProtocolError() }
    try reader.end()
  }

  package var bytes: [UInt8] {
    var fields = FieldWriter()
    fields.byte(kind)
    fields.number(UInt64(number), 4)
    fields.number(UInt64(bodyByteCount), 4)
    return fields.bytes
  }
}

/// Reads the fields of a body, which is not secret.
struct FieldReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() throws(CourierProtocolError) -> UInt8 { UInt8(truncatingIfNeeded: try number(1)) }

  /// Whether a value follows, or a flag is set.
  mutating func flag() throws(CourierProtocolError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw CourierProtocolError()
    }
  }

  mutating func number(_ byteCount: Int) throws(CourierProtocolError) -> UInt64 {
    guard rest.count >= byteCount else { throw CourierProtocolError() }
    defer { rest = rest.dropFirst(byteCount) }
    return rest.prefix(byteCount).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// A number that an `Int` can have.
  mutating func size() throws(CourierProtocolError) -> Int {
    guard let size = Int(exactly: try number(8)) else { throw CourierProtocolError() }
    return size
  }

  mutating func text(_ limit: Int) throws(CourierProtocolError) -> String {
    let count = Int(try number(2))
    guard count <= limit, rest.count >= count,
      let text = String(validating: rest.prefix(count), as: UTF8.self)
    else { throw CourierProtocolError() }
    rest = rest.dropFirst(count)
    return text
  }

  /// All that is left.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }

  func end() throws(CourierProtocolError) {
    guard rest.isEmpty else { throw CourierProtocolError() }
  }
}

/// Writes the fields of a body.
struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func number(_ value: UInt64, _ byteCount: Int) {
    for shift in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(shift))))
    }
  }

  mutating func text(_ text: String) {
    number(UInt64(text.utf8.count), 2)
    bytes += text.utf8
  }

  mutating func append(_ more: [UInt8]) { bytes += more }
}
