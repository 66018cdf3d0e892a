// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.3.32. Bits 0x02 and 0x04 are LibrePGP's, and are never written.

/// What the software of a certificate's holder can read.
public struct Features: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Symmetrically encrypted and integrity protected data, version 1.
  public static let seipdVersion1 = Features(rawValue: 0x01)
  /// Symmetrically encrypted and integrity protected data, version 2.
  public static let seipdVersion2 = Features(rawValue: 0x08)
}
