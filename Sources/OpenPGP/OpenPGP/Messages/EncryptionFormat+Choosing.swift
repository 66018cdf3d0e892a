// SPDX-License-Identifier: Apache-2.0
//
// D27: the format follows from what the certificates of all recipients say that they can read, and from
// nothing else.

extension EncryptionFormat {
  /// The format that all of `recipients` can read.
  /// - Parameters:
  ///   - recipients: one at least.
  ///   - allowsVersion2: false when somebody reads too who has no certificate, and may not know version 2.
  init(for recipients: [ValidCertificate], allowsVersion2: Bool) {
    if allowsVersion2, recipients.allSatisfy({ $0.features.contains(.seipdVersion2) }) {
      self = .version2(
        Self.suites.first { suite in
          recipients.allSatisfy { $0.preferredAEADCiphersuites.contains(suite) }
        } ?? Self.mandatorySuite)
    } else {
      self = .version1(
        Self.ciphers.first { cipher in
          recipients.allSatisfy { $0.preferredSymmetricAlgorithms.contains(cipher) }
        } ?? .aes128)
    }
  }

  /// The best form of version 2.
  static let preferredSuite = AEADCiphersuite(.aes256, .ocb)

  /// In the order in which they are chosen.
  private static let suites = [preferredSuite, AEADCiphersuite(.aes256, .gcm)]
  /// What everybody can read who can read version 2 (section 9.6).
  private static let mandatorySuite = AEADCiphersuite(.aes128, .ocb)
  /// AES-128 is what everybody can read (section 9.3).
  private static let ciphers: [SymmetricAlgorithm] = [.aes256, .aes192]
}
