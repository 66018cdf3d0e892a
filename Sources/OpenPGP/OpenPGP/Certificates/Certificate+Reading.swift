// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 3.6 and 10.1: certificates one behind the other. Armor is taken off before.

extension Certificate {
  /// All certificates in a sequence of packets; the same one twice becomes one. Secret keys between them are
  /// passed over, and so are certificates of versions that this engine does not have, as long as there is
  /// another one.
  /// - Throws: ``OpenPGPError/malformed(_:)`` with `secretKeyAsCertificate` when there are secret keys only,
  ///   with `certificateStructure` when the packets are no certificates; ``OpenPGPError/unsupported(_:)``;
  ///   ``OpenPGPError/overLimit(_:)``.
  public static func readAll(_ source: any ByteSource) throws(OpenPGPError) -> [Certificate] {
    let keys = try TransferableKeyReader.readAll(source)
    let certificates = keys.filter { !$0.isSecret }.map(\.certificate)
    guard !certificates.isEmpty else { throw .malformed(.secretKeyAsCertificate) }
    return certificates
  }
}
