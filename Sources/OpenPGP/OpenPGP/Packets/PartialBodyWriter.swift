// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 4.2.1.4: the body of a data packet whose length is known only at its end, in parts of a
// power of two. What fits into the first part is written with its length.

internal import Primitives
internal import Secrets

/// Writes one packet.
final class PartialBodyWriter: ByteSink {
  private let sink: any ByteSink
  private let type: PacketType
  private var hasBegun = false
  /// Octets that do not fill a part yet.
  private var rest = SecretBytes(zeroed: smallestPartByteCount)
  private var restCount = 0

  init(_ type: PacketType, to sink: any ByteSink) {
    self.type = type
    self.sink = sink
  }

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    var used = 0
    while restCount + bytes.byteCount - used >= Self.smallestPartByteCount {
      let available = restCount + bytes.byteCount - used
      let count = min(1 << (Int.bitWidth - 1 - available.leadingZeroBitCount), Self.largestPartByteCount)
      try writePart(bytes.extracting(used..<used + count - restCount), count, isLast: false)
      used += count - restCount
      restCount = 0
    }
    let end = bytes.extracting(used..<bytes.byteCount)
    rest.withMutableBytes { $0.copy(end, to: restCount) }
    restCount += end.byteCount
  }

  /// Writes the last part.
  func finish() throws(OpenPGPError) { try writePart(RawSpan(), restCount, isLast: true) }

  /// Writes the kept octets, and then `bytes`, as one part of `count` octets.
  private func writePart(_ bytes: RawSpan, _ count: Int, isLast: Bool) throws(OpenPGPError) {
    let length = Self.length(count, isLast: isLast)
    try sink.write(hasBegun ? length : [0xC0 | type.rawValue] + length)
    hasBegun = true
    try rest.withBytes { (rest) throws(OpenPGPError) in try sink.write(rest.extracting(0..<restCount)) }
    try sink.write(bytes)
  }

  /// The length octets of a part.
  static func length(_ count: Int, isLast: Bool) -> [UInt8] {
    guard isLast else { return [224 + UInt8(count.trailingZeroBitCount)] }
    var octets: [UInt8] = []
    PacketHeader.write(length: count, octetCount: count < 192 ? 1 : count < 8384 ? 2 : 5, to: &octets)
    return octets
  }

  /// Large enough that the headers cost nothing.
  private static let smallestPartByteCount = 32 << 10
  /// The largest that the format has.
  private static let largestPartByteCount = 1 << 30
}
