// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.2.3.14 to 5.2.3.17 and 5.2.3.32: what certificates of this engine say that their holder
// can read, by the version of the key.

/// What a certificate of ours says about messages to its holder.
enum KeyPreferences {
  /// Subpackets of the self-signature that speaks for the certificate.
  static func subpackets(version: UInt8) -> [Subpacket] {
    var contents: [Subpacket.Content] = [
      .preferredSymmetricAlgorithms([.aes256, .aes192, .aes128]),
      .preferredHashAlgorithms([.sha512, .sha256]),
      // Compression is never asked for: what it saves is little, and what it tells about the text is much.
      .preferredCompressionAlgorithms([.uncompressed]),
      .features(features(version: version)),
    ]
    if version == 6 {
      contents.append(
        .preferredAEADCiphersuites([AEADCiphersuite(.aes256, .ocb), AEADCiphersuite(.aes256, .gcm)]))
    }
    return contents.map { Subpacket($0) }
  }

  static func features(version: UInt8) -> Features {
    version == 6 ? [.seipdVersion1, .seipdVersion2] : .seipdVersion1
  }

  /// The types that ``subpackets(version:)`` may have.
  static let types: Set<SubpacketType> = [
    .preferredSymmetricAlgorithms, .preferredHashAlgorithms, .preferredCompressionAlgorithms, .features,
    .preferredAEADCiphersuites,
  ]
}
