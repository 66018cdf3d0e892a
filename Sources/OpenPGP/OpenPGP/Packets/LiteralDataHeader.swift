// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.9: what stands before the data. Name and date are not covered by signatures, so they
// are read and believed by nobody.

internal import Primitives

/// The fields of a literal data packet before the data.
public struct LiteralDataHeader: Hashable, Sendable {
  /// What the data claim to be.
  public struct Format: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let binary = Format(rawValue: UInt8(ascii: "b"))
    public static let utf8 = Format(rawValue: UInt8(ascii: "u"))
    /// Text of an unknown encoding; deprecated.
    public static let text = Format(rawValue: UInt8(ascii: "t"))
  }

  public let format: Format
  public let fileName: [UInt8]
  public let date: Timestamp

  public init(format: Format) {
    self.format = format
    fileName = []
    date = Timestamp(secondsSince1970: 0)
  }

  init(_ source: any ByteSource) throws(OpenPGPError) {
    format = Format(rawValue: try source.readByte())
    let count = Int(try source.readByte())
    var fileName: [UInt8] = []
    for _ in 0..<count { fileName.append(try source.readByte()) }
    self.fileName = fileName
    var seconds: UInt32 = 0
    for _ in 0..<4 { seconds = seconds << 8 | UInt32(try source.readByte()) }
    date = Timestamp(secondsSince1970: seconds)
  }

  /// The octets before the data.
  public var bytes: [UInt8] {
    var output = [format.rawValue, UInt8(fileName.count)] + fileName
    output.append(bigEndian: date.secondsSince1970)
    return output
  }
}
