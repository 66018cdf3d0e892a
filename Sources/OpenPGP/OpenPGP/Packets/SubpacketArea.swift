// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.7: the subpackets of one area, and its octets as they came.

internal import Primitives

/// The hashed or the unhashed subpackets of a signature.
public struct SubpacketArea: Hashable, Sendable {
  public let bytes: [UInt8]
  public let subpackets: [Subpacket]

  /// An area to be written.
  public init(_ subpackets: [Subpacket] = []) {
    self.subpackets = subpackets
    var output: [UInt8] = []
    for subpacket in subpackets {
      let count = subpacket.body.count + 1
      PacketHeader.write(
        length: count, octetCount: count < 192 ? 1 : count < 16320 ? 2 : 5, to: &output)
      output.append(subpacket.type.rawValue | (subpacket.isCritical ? 0x80 : 0))
      output += subpacket.body
    }
    bytes = output
  }

  init(bytes: [UInt8], isEmbedded: Bool) throws(OpenPGPError) {
    self.bytes = bytes
    var subpackets: [Subpacket] = []
    let area = unsafe bytes.span.bytes
    var cursor = PacketCursor()
    while !cursor.isAtEnd(area) {
      let count = try Self.readLength(&cursor, area)
      guard count > 0 else { throw .malformed(.subpacket) }
      let octet = try cursor.readByte(area)
      let body = try cursor.readBytes(area, count: count - 1)
      subpackets.append(try Subpacket(typeOctet: octet, body: body, isEmbedded: isEmbedded))
    }
    self.subpackets = subpackets
  }

  /// The last content that `select` picks, as the standard advises where one should stand (section 5.2.3.9).
  func last<Value>(_ select: (Subpacket.Content) -> Value?) -> Value? {
    for subpacket in subpackets.reversed() {
      if let content = subpacket.content, let value = select(content) { return value }
    }
    return nil
  }

  /// All contents that `select` picks.
  func all<Value>(_ select: (Subpacket.Content) -> Value?) -> [Value] {
    subpackets.compactMap { $0.content.flatMap(select) }
  }

  /// Like that of packets, and the second octet form reaches further (section 5.2.3.7).
  private static func readLength(
    _ cursor: inout PacketCursor, _ area: RawSpan
  ) throws(OpenPGPError) -> Int {
    let first = Int(try cursor.readByte(area))
    switch first {
    case 0..<192: return first
    case 192..<255: return (first - 192) << 8 + Int(try cursor.readByte(area)) + 192
    default: return Int(try cursor.readUInt32(area))
    }
  }
}
