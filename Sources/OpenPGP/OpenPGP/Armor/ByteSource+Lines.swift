// SPDX-License-Identifier: Apache-2.0
//
// Lines of armor and of cleartext signed messages: what stands in them is for everybody to read.

internal import Primitives

extension ByteSource {
  /// The next line without its end, which is LF or CR LF or the end of the source; nil at the end.
  /// - Throws: what `excess` is when the line is longer than `byteCountLimit`.
  func readLine(
    byteCountLimit: Int, excess: @autoclosure () -> OpenPGPError = .overLimit(.armorLine)
  ) throws(OpenPGPError) -> [UInt8]? {
    var line: [UInt8] = []
    var hasEnd = false
    var isAtEnd = false
    while !hasEnd && !isAtEnd {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if next.isEmpty { isAtEnd = true }
        let end = next.firstOffset(of: UInt8(ascii: "\n"))
        hasEnd = end != nil
        line.append(next.extracting(0..<(end ?? next.byteCount)))
        return end.map { $0 + 1 } ?? next.byteCount
      }
      consume(count)
      guard line.count <= byteCountLimit else { throw excess() }
    }
    if isAtEnd && line.isEmpty { return nil }
    if hasEnd && line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }
}

extension [UInt8] {
  /// Without the spaces and tabs at the end.
  func withoutTrailingBlanks() -> [UInt8] {
    var end = count
    while end > 0, self[end - 1] == UInt8(ascii: " ") || self[end - 1] == UInt8(ascii: "\t") { end -= 1 }
    return end == count ? self : Array(prefix(end))
  }
}

extension RawSpan {
  /// Where `byte` is first.
  func firstOffset(of byte: UInt8) -> Int? {
    unsafe withUnsafeBytes { unsafe $0.firstIndex(of: byte) }
  }
}
