// SPDX-License-Identifier: Apache-2.0
//
// Certificates and secret keys from files, armored or not, several in one file.

internal import OpenPGP

/// Reads certificates and secret keys.
enum KeyFiles {
  static func certificates(in source: any ByteSource) throws(Failure) -> [Certificate] {
    do {
      return try Certificate.readAll(try OpenPGPInput.packets(source, .allBlocks))
    } catch {
      throw Failure(error, .certificates)
    }
  }

  static func keys(in source: any ByteSource) throws(Failure) -> [TransferableSecretKey] {
    do {
      return try TransferableSecretKey.readAll(try OpenPGPInput.packets(source, .allBlocks))
    } catch {
      throw Failure(error, .keys)
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
        try Self.keys(in: source)
      }
    }
    return keys
  }

  static func certificates(at designator: String) throws(Failure) -> [Certificate] {
    try InputDesignator(designator).withSource { (source) throws(Failure) in try certificates(in: source) }
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
