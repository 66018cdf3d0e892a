// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 4.2: both header formats, and how the length was written, so that a header can be
// written again as it came.

internal import Primitives

/// The header of a packet.
///
/// [RFC 9580, section 4.2](https://www.rfc-editor.org/rfc/rfc9580#section-4.2)
public struct PacketHeader: Hashable, Sendable {
  /// How long the body is.
  public enum Length: Hashable, Sendable {
    /// So many octets.
    case known(Int)
    /// A first part of so many octets, a power of two, and more to come (section 4.2.1.4).
    case partial(Int)
    /// Up to the end of the data (section 4.2.2, old format).
    case indeterminate
  }

  /// How type and length are written.
  public enum Format: Hashable, Sendable {
    /// The length in 1, 2 or 4 octets, or in none when it is indeterminate.
    case legacy(lengthOctetCount: Int)
    /// The length in 1, 2 or 5 octets; 1 when it is partial.
    case openPGP(lengthOctetCount: Int)
  }

  /// The type of the packet.
  public let type: PacketType
  /// How long the body is.
  public let length: Length
  /// How type and length were written.
  public let format: Format

  /// A header in the OpenPGP format, with the shortest length.
  public init(type: PacketType, byteCount: Int) {
    self.type = type
    length = .known(byteCount)
    format = .openPGP(lengthOctetCount: byteCount < 192 ? 1 : byteCount < 8384 ? 2 : 5)
  }

  /// The next header of `source`; nil at the end.
  package init?(_ source: any ByteSource) throws(OpenPGPError) {
    guard let first = try source.readByteIfAny() else { return nil }
    guard first & 0x80 != 0 else { throw .malformed(.packetHeader) }
    if first & 0x40 != 0 {
      type = PacketType(rawValue: first & 0x3F)
      let (length, count) = try Self.readLength(source)
      self.length = length
      format = .openPGP(lengthOctetCount: count)
    } else {
      type = PacketType(rawValue: first >> 2 & 0x0F)
      let count = [1, 2, 4, 0][Int(first & 0x03)]
      var value = 0
      for _ in 0..<count { value = value << 8 | Int(try source.readByte()) }
      length = count == 0 ? .indeterminate : .known(value)
      format = .legacy(lengthOctetCount: count)
    }
    guard type != .reserved else { throw .malformed(.packetHeader) }
    // Only data packets may be of open length (section 4.2.1.4), and a first part has 512 octets or more.
    switch length {
    case .known: break
    case .partial(let count):
      guard type.isData, count >= Self.firstPartByteCount else { throw .malformed(.partialLength) }
    case .indeterminate:
      guard type.isData else { throw .malformed(.partialLength) }
    }
  }

  /// The octets of the header.
  public var bytes: [UInt8] {
    var output: [UInt8] = []
    switch (format, length) {
    case (.legacy(let count), .known(let value)):
      output.append(0x80 | type.rawValue << 2 | (count == 1 ? 0 : count == 2 ? 1 : 2))
      for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: value >> shift))
      }
    case (.legacy, _):
      output.append(0x80 | type.rawValue << 2 | 3)
    case (.openPGP(let count), .known(let value)):
      output.append(0xC0 | type.rawValue)
      Self.write(length: value, octetCount: count, to: &output)
    case (.openPGP, .partial(let value)):
      output.append(0xC0 | type.rawValue)
      output.append(224 + UInt8(value.trailingZeroBitCount))
    case (.openPGP, .indeterminate):
      preconditionFailure("only the legacy format has an indeterminate length")
    }
    return output
  }

  /// The least octets of the first part of a body in parts (section 4.2.1.4).
  static let firstPartByteCount = 512

  /// A length of the OpenPGP format, and how many octets it had.
  static func readLength(_ source: any ByteSource) throws(OpenPGPError) -> (Length, octetCount: Int) {
    let first = Int(try source.readByte())
    switch first {
    case 0..<192: return (.known(first), 1)
    case 192..<224: return (.known((first - 192) << 8 + Int(try source.readByte()) + 192), 2)
    case 224..<255: return (.partial(1 << (first & 0x1F)), 1)
    default:
      var value = 0
      for _ in 0..<4 { value = value << 8 | Int(try source.readByte()) }
      return (.known(value), 5)
    }
  }

  /// A length of the OpenPGP format in 1, 2 or 5 octets; subpackets have the same.
  static func write(length: Int, octetCount: Int, to output: inout [UInt8]) {
    switch octetCount {
    case 1: output.append(UInt8(length))
    case 2:
      output.append(UInt8((length - 192) >> 8 + 192))
      output.append(UInt8(truncatingIfNeeded: length - 192))
    default:
      output.append(255)
      output.append(bigEndian: UInt32(length))
    }
  }
}
