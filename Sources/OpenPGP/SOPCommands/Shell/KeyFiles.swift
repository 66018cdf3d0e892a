// SPDX-License-Identifier: Apache-2.0
//
// Certificates and secret keys from files, armored or not, several in one file.

internal import OpenPGP

/// Reads certificates and secret keys.
enum KeyFiles {
  /// - Parameter name: of the file; nil is standard input.
  static func certificates(
    in source: any ByteSource, name: String? = nil
  ) throws(Failure) -> [Certificate] {
    do {
      return try Certificate.readAll(try OpenPGPInput.packets(source, .allBlocks))
    } catch {
      throw failure(error, .certificates, name)
    }
  }

  /// - Parameter name: of the file; nil is standard input.
  static func keys(
    in source: any ByteSource, name: String? = nil
  ) throws(Failure) -> [TransferableSecretKey] {
    do {
      return try TransferableSecretKey.readAll(try OpenPGPInput.packets(source, .allBlocks))
    } catch {
      throw failure(error, .keys, name)
    }
  }

  /// Says which of several files it is, and what is in it instead.
  private static func failure(_ error: OpenPGPError, _ subject: Subject, _ name: String?) -> Failure {
    let place = name.map { "«\($0)»" } ?? "standard input"
    switch error {
    case .malformed(.secretKeyAsCertificate):
      return Failure(
        .badData, "\(place) holds a secret key, and no certificate",
        hint: "coffer-sop extract-cert makes a certificate of it")
    case .malformed(.certificateAsSecretKey):
      return Failure(.badData, "\(place) holds a certificate, and no secret key")
    case .malformed, .overLimit(.armorLine):
      let wanted = subject == .keys ? "secret keys" : "certificates"
      return Failure(.badData, "\(place) is damaged, or holds no \(wanted)", detail: "\(error)")
    case .notAuthentic:
      return Failure(
        .badData, "\(place) is damaged: the checksum of one of its secret keys is wrong",
        hint: "take a copy of the key that is whole")
    case .inputOutput(let number):
      return Failure(.unspecifiedFailure, "cannot read \(place) (\(SystemError.text(number)))")
    default: return Failure(error, subject)
    }
  }

  static func certificates(at designators: [String]) throws(Failure) -> [Certificate] {
    var certificates: [Certificate] = []
    for designator in designators { certificates += try Self.certificates(at: designator) }
    return certificates
  }

  static func keys(at designators: [String]) throws(Failure) -> [TransferableSecretKey] {
    var keys: [TransferableSecretKey] = []
    for designator in designators {
      keys += try InputDesignator(designator).withSource { (source) throws(Failure) in
        try Self.keys(in: source, name: designator)
      }
    }
    return keys
  }

  static func certificates(at designator: String) throws(Failure) -> [Certificate] {
    try InputDesignator(designator).withSource { (source) throws(Failure) in
      try certificates(in: source, name: designator)
    }
  }

  /// Writes certificates one behind the other, as one block unless `isArmored` is false.
  static func write(_ certificates: [Certificate], isArmored: Bool) throws(Failure) {
    try StandardStreams.write(isArmored ? .publicKey : nil, .certificates) { (sink) throws(OpenPGPError) in
      for certificate in certificates { try certificate.write(to: sink) }
    }
  }

  /// Writes secret keys one behind the other, as one block unless `isArmored` is false.
  static func write(_ keys: [TransferableSecretKey], isArmored: Bool) throws(Failure) {
    try StandardStreams.write(isArmored ? .privateKey : nil, .keys) { (sink) throws(OpenPGPError) in
      for key in keys { try key.write(to: sink) }
    }
  }
}
