// SPDX-License-Identifier: Apache-2.0

/// The header blocks of an entry (IEEE Std 1003.1-2017, pax, "ustar Interchange Format").
enum TarHeader {
  static let blockByteCount = 512

  /// A length with its padding to whole blocks.
  static func padded(_ byteCount: Int) -> Int {
    (byteCount + blockByteCount - 1) / blockByteCount * blockByteCount
  }

  /// The header of an entry, after an extended one if something does not fit.
  static func blocks(of entry: TarSource.Entry) -> [UInt8] {
    var name = entry.name
    if case .directory = entry.kind { name.append(UInt8(ascii: "/")) }
    var target: [UInt8] = []
    if case .link(let found) = entry.kind { target = found }
    var records: [UInt8] = []
    if name.count > nameByteCount { records += record("path", name) }
    if target.count > nameByteCount { records += record("linkpath", target) }
    if entry.byteCount > largestNumber { records += record("size", Array("\(entry.byteCount)".utf8)) }
    var blocks: [UInt8] = []
    if !records.isEmpty {
      blocks += block(
        name: Array("PaxHeader".utf8), type: "x", byteCount: records.count, mode: 0o644, time: entry.time,
        target: [])
      blocks += records + [UInt8](repeating: 0, count: padded(records.count) - records.count)
    }
    let (type, mode): (Unicode.Scalar, Int) =
      switch entry.kind {
      case .file: ("0", entry.isExecutable ? 0o755 : 0o644)
      case .directory: ("5", 0o755)
      case .link: ("2", 0o777)
      }
    blocks += block(
      name: name, type: type, byteCount: min(entry.byteCount, largestNumber), mode: mode, time: entry.time,
      target: target)
    return blocks
  }

  private static let nameByteCount = 100
  /// Eleven octal digits.
  private static let largestNumber = 0o77777777777

  private static func block(
    name: [UInt8], type: Unicode.Scalar, byteCount: Int, mode: Int, time: Int, target: [UInt8]
  ) -> [UInt8] {
    var block: [UInt8] = field(name, 100)
    block += number(mode, 8) + number(0, 8) + number(0, 8) + number(byteCount, 12)
    block += number(min(time, largestNumber), 12)
    block += [UInt8](repeating: UInt8(ascii: " "), count: 8)
    block += [UInt8(ascii: type)] + field(target, 100)
    block += Array("ustar\u{0}00".utf8) + field([], 32) + field([], 32) + number(0, 8) + number(0, 8)
    block += [UInt8](repeating: 0, count: blockByteCount - block.count)
    let sum = block.reduce(0) { $0 + Int($1) }
    block.replaceSubrange(148..<156, with: octal(sum, 6) + [0, UInt8(ascii: " ")])
    return block
  }

  private static func field(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - bytes.count))
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] { octal(value, count - 1) + [0] }

  private static func octal(_ value: Int, _ count: Int) -> [UInt8] {
    let digits = Array(String(value, radix: 8).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, count - digits.count)) + digits
  }

  /// A record of an extended header begins with its own length in digits.
  private static func record(_ keyword: String, _ value: [UInt8]) -> [UInt8] {
    let rest = Array(" \(keyword)=".utf8) + value + [UInt8(ascii: "\n")]
    var count = rest.count + 1
    while "\(count)".utf8.count + rest.count != count { count = "\(count)".utf8.count + rest.count }
    return Array("\(count)".utf8) + rest
  }
}
