// SPDX-License-Identifier: Apache-2.0
//
// A secret that a probe has told of, and the shapes in which a copy of it may lie about.

/// A secret, known here and to be found nowhere else.
public struct ToldSecret: Sendable {
  public let name: String
  public let bytes: [UInt8]

  /// Bytes to look for, and what finding them means.
  public struct Trace: Sendable {
    public let bytes: [UInt8]
    public let part: String
    public let form: String
  }

  /// Shorter secrets would be found by chance.
  public static let shortest = 8
  /// Halves of secrets up to twice this are searched whole; of longer ones as many bytes at several places,
  /// so that a copy of a part is found too.
  private static let pieceByteCount = 32
  private static let pieceCount = 8

  public init(name: String, bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  /// The whole as its parts, each in all forms.
  func traces() -> [Trace] { parts().flatMap { part, bytes in Self.forms(of: bytes, part) } }

  private func parts() -> [(String, [UInt8])] {
    if bytes.count < 2 * Self.shortest { return [("whole", bytes)] }
    if bytes.count <= 2 * Self.pieceByteCount {
      let half = bytes.count / 2
      return [("first half", Array(bytes[..<half])), ("second half", Array(bytes[half...]))]
    }
    let last = bytes.count - Self.pieceByteCount
    return (0..<Self.pieceCount).map { index in
      let start = last * index / (Self.pieceCount - 1)
      return ("at byte \(start)", Array(bytes[start..<start + Self.pieceByteCount]))
    }
  }

  private static func forms(of bytes: [UInt8], _ part: String) -> [Trace] {
    var seen: Set<[UInt8]> = []
    var traces: [Trace] = []
    func add(_ form: String, _ bytes: [UInt8]) {
      if seen.insert(bytes).inserted { traces.append(Trace(bytes: bytes, part: part, form: form)) }
    }
    add("as it is", bytes)
    // Numbers of libcrypto, on a machine that is little-endian; passphrases that zxcvbn turned round.
    add("in reverse", bytes.reversed())
    add("hexadecimal", hexadecimal(bytes, Array("0123456789abcdef".utf8)))
    add("hexadecimal, upper case", hexadecimal(bytes, Array("0123456789ABCDEF".utf8)))
    for skipped in 0..<3 {
      add("base64", base64(bytes, behind: skipped, Array("+/".utf8)))
      add("base64 of URLs", base64(bytes, behind: skipped, Array("-_".utf8)))
    }
    // Text that was folded for a search, or widened by a string type or by utf8proc.
    if bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) {
      add("lower case", bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
      add("UTF-16", bytes.flatMap { [$0, 0] })
      add("UTF-32", bytes.flatMap { [$0, 0, 0, 0] })
    }
    return traces
  }

  private static func hexadecimal(_ bytes: [UInt8], _ digits: [UInt8]) -> [UInt8] {
    bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  /// The characters (RFC 4648, sections 4 and 5) that are the same whatever stands before and behind the bytes.
  /// - Parameter skipped: how many bytes of a group of three stand before them.
  private static func base64(_ bytes: [UInt8], behind skipped: Int, _ lastTwo: [UInt8]) -> [UInt8] {
    let alphabet =
      Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + lastTwo
    let first = (8 * skipped + 5) / 6
    let end = 8 * (skipped + bytes.count) / 6
    return (first..<end).map { character in
      var value = 0
      for bit in 6 * character..<6 * character + 6 {
        let byte = bytes[bit / 8 - skipped]
        value = value << 1 | Int(byte >> UInt8(7 - bit % 8) & 1)
      }
      return alphabet[value]
    }
  }
}
