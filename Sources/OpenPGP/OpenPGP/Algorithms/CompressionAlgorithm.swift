// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.4.

/// A compression algorithm by its number.
public struct CompressionAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let uncompressed = CompressionAlgorithm(rawValue: 0)
  public static let zip = CompressionAlgorithm(rawValue: 1)
  public static let zlib = CompressionAlgorithm(rawValue: 2)
  public static let bzip2 = CompressionAlgorithm(rawValue: 3)
}
