// SPDX-License-Identifier: Apache-2.0
//
// Whether a text is a signature (D-Bus Specification, "Signatures"). sd-bus does not check every signature,
// and the bus disconnects a client that sends a wrong one.

enum Signature {
  /// Zero or more complete types, at most 255 bytes.
  static func isValid(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    guard rest.count <= 255 else { return false }
    while !rest.isEmpty { guard takeType(&rest, depth: 0) else { return false } }
    return true
  }

  /// Arrays and structures may each be nested 32 deep.
  private static let depthLimit = 64

  private static func takeType(_ rest: inout ArraySlice<UInt8>, depth: Int) -> Bool {
    guard depth < depthLimit, let code = rest.popFirst() else { return false }
    switch Unicode.Scalar(code) {
    case "a":
      guard rest.first == UInt8(ascii: "{") else { return takeType(&rest, depth: depth + 1) }
      rest.removeFirst()
      return takeBasic(&rest) && takeType(&rest, depth: depth + 1) && rest.popFirst() == UInt8(ascii: "}")
    case "(":
      repeat {
        guard takeType(&rest, depth: depth + 1) else { return false }
      } while rest.first != UInt8(ascii: ")")
      rest.removeFirst()
      return true
    case "v": return true
    default: return basic.contains(code)
    }
  }

  private static func takeBasic(_ rest: inout ArraySlice<UInt8>) -> Bool {
    rest.popFirst().map(basic.contains) ?? false
  }

  private static let basic = Array("ybnqiuxtdsogh".utf8)
}
