// SPDX-License-Identifier: Apache-2.0
//
// The few shapes of CBOR (RFC 8949) that CTAP uses: integers, bytes, text, arrays, maps, booleans.

indirect enum CBOR: Equatable {
  case number(Int)
  case bytes([UInt8])
  case text(String)
  case array([CBOR])
  /// In the order of the encoding, which CTAP wants sorted.
  case map([(CBOR, CBOR)])
  case bool(Bool)

  static func == (one: CBOR, other: CBOR) -> Bool { one.encoded == other.encoded }

  subscript(_ key: Int) -> CBOR? { self[.number(key)] }
  subscript(_ key: String) -> CBOR? { self[.text(key)] }
  private subscript(_ key: CBOR) -> CBOR? {
    guard case .map(let pairs) = self else { return nil }
    return pairs.first { $0.0 == key }?.1
  }

  var number: Int? { if case .number(let value) = self { value } else { nil } }
  var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  var text: String? { if case .text(let value) = self { value } else { nil } }
  var array: [CBOR]? { if case .array(let value) = self { value } else { nil } }
  var isTrue: Bool { self == .bool(true) }

  var encoded: [UInt8] {
    switch self {
    case .number(let value):
      return value >= 0 ? Self.head(0, value) : Self.head(1, -1 - value)
    case .bytes(let value): return Self.head(2, value.count) + value
    case .text(let value): return Self.head(3, value.utf8.count) + Array(value.utf8)
    case .array(let values): return Self.head(4, values.count) + values.flatMap(\.encoded)
    case .map(let pairs): return Self.head(5, pairs.count) + pairs.flatMap { $0.0.encoded + $0.1.encoded }
    case .bool(let value): return [value ? 0xF5 : 0xF4]
    }
  }

  private static func head(_ major: UInt8, _ value: Int) -> [UInt8] {
    let kind = major << 5
    switch value {
    case ..<24: return [kind | UInt8(value)]
    case ..<256: return [kind | 24, UInt8(value)]
    default: return [kind | 25, UInt8(value >> 8), UInt8(value & 0xFF)]
    }
  }

  /// Nil for anything else, and for bytes after the value.
  init?(_ bytes: some Sequence<UInt8>) {
    var rest = Array(bytes)[...]
    guard let value = Self.read(&rest), rest.isEmpty else { return nil }
    self = value
  }

  private static func read(_ rest: inout ArraySlice<UInt8>) -> CBOR? {
    guard let first = rest.popFirst() else { return nil }
    if first == 0xF5 || first == 0xF4 { return .bool(first == 0xF5) }
    guard let count = length(first & 0x1F, &rest) else { return nil }
    switch first >> 5 {
    case 0: return .number(count)
    case 1: return .number(-1 - count)
    case 2, 3:
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      let part = Array(rest.prefix(count))
      return first >> 5 == 2 ? .bytes(part) : .text(String(decoding: part, as: UTF8.self))
    case 4:
      var values: [CBOR] = []
      for _ in 0..<count {
        guard let value = read(&rest) else { return nil }
        values.append(value)
      }
      return .array(values)
    case 5:
      var pairs: [(CBOR, CBOR)] = []
      for _ in 0..<count {
        guard let key = read(&rest), let value = read(&rest) else { return nil }
        pairs.append((key, value))
      }
      return .map(pairs)
    default: return nil
    }
  }

  private static func length(_ code: UInt8, _ rest: inout ArraySlice<UInt8>) -> Int? {
    switch code {
    case ..<24: return Int(code)
    case 24: return rest.popFirst().map { Int($0) }
    case 25:
      guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
      return Int(high) << 8 | Int(low)
    default: return nil
    }
  }
}
