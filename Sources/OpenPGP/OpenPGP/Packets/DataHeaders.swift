// SPDX-License-Identifier: Apache-2.0
//
// The fields of data packets that come before the data: literal data (RFC 9580, section 5.9) and encrypted,
// integrity protected data (section 5.13). Name and date of literal data are not covered by signatures, so
// they are read and not relied on.

internal import Primitives

/// The fields of a literal data packet before the data.
///
/// [RFC 9580, section 5.9](https://www.rfc-editor.org/rfc/rfc9580#section-5.9)
public struct LiteralDataHeader: Hashable, Sendable {
  /// What the data claims to be.
  public struct Format: RawRepresentable, Hashable, Sendable {
    /// The octet in the packet.
    public let rawValue: UInt8

    /// A format by its octet, known here or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Octets.
    public static let binary = Format(rawValue: UInt8(ascii: "b"))
    /// Text in UTF-8.
    public static let utf8 = Format(rawValue: UInt8(ascii: "u"))
    /// Text of an unknown encoding; deprecated.
    public static let text = Format(rawValue: UInt8(ascii: "t"))
  }

  /// What the data claims to be.
  public let format: Format
  /// The name that the sender gave it; nobody has signed it.
  public let fileName: [UInt8]
  /// The date that the sender gave it; nobody has signed it.
  public let date: Timestamp

  /// A header to be written: without a name and a date.
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

/// The fields of a symmetrically encrypted and integrity protected data packet before the ciphertext.
///
/// [RFC 9580, section 5.13](https://www.rfc-editor.org/rfc/rfc9580#section-5.13)
public enum SEIPDHeader: Hashable, Sendable {
  /// CFB and a modification detection code (section 5.13.1).
  case version1
  /// AEAD in chunks of 2^(`chunkOctet` + 6) octets (section 5.13.2); the salt has 32.
  case version2(SymmetricAlgorithm, AEADAlgorithm, chunkOctet: UInt8, salt: [UInt8])

  static let saltByteCount = 32
  /// Chunks of 4 MiB at most (section 5.13.2).
  static let chunkOctetLimit: UInt8 = 16

  init(_ source: any ByteSource) throws(OpenPGPError) {
    switch try source.readByte() {
    case 1: self = .version1
    case 2:
      let cipher = SymmetricAlgorithm(rawValue: try source.readByte())
      let aead = AEADAlgorithm(rawValue: try source.readByte())
      let chunkOctet = try source.readByte()
      guard chunkOctet <= Self.chunkOctetLimit else { throw .malformed(.encryptedData) }
      var salt: [UInt8] = []
      for _ in 0..<Self.saltByteCount { salt.append(try source.readByte()) }
      self = .version2(cipher, aead, chunkOctet: chunkOctet, salt: salt)
    case let version: throw .unsupported(.packetVersion(.seipd, version))
    }
  }

  /// The octets before the ciphertext.
  public var bytes: [UInt8] {
    switch self {
    case .version1: [1]
    case .version2(let cipher, let aead, let chunkOctet, let salt):
      [2, cipher.rawValue, aead.rawValue, chunkOctet] + salt
    }
  }
}
