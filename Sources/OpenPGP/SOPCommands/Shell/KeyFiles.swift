// SPDX-License-Identifier: Apache-2.0
//
// Certificates and secret keys from files, armored or not, several in one file; which key of a file signs,
// certifies or decrypts, unlocked. To unlock takes time on purpose, so a key that decrypts is unlocked only
// when a message is for it.
//
// Concurrency: one thread at a time, like the streams these are used with.

internal import OpenPGP
internal import Secrets

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
    let place = name.map { "'\($0)'" } ?? "standard input"
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

  /// Writes certificates one after the other, as one block unless `isArmored` is false.
  static func write(_ certificates: [Certificate], isArmored: Bool) throws(Failure) {
    try StandardStreams.write(isArmored ? .publicKey : nil, .certificates) { (sink) throws(OpenPGPError) in
      for certificate in certificates { try certificate.write(to: sink) }
    }
  }

  /// Writes secret keys one after the other, as one block unless `isArmored` is false.
  static func write(_ keys: [TransferableSecretKey], isArmored: Bool) throws(Failure) {
    try StandardStreams.write(isArmored ? .privateKey : nil, .keys) { (sink) throws(OpenPGPError) in
      for key in keys { try key.write(to: sink) }
    }
  }
}

/// The keys of the files that a call names, ready for use.
struct SigningKeys {
  let passwords: [SharedSecretBytes]
  let time: Timestamp

  /// - Parameter call: with its `--with-key-password`.
  init(_ call: Call, at time: Timestamp) throws(Failure) {
    passwords = try [Password](call.all("with-key-password")).candidates
    self.time = time
  }

  /// One key of each secret key at `designators` that may sign now.
  /// - Throws: 79 when one has none, 67 when one is protected.
  func signers(at designators: [String]) throws(Failure) -> [any Signer] {
    var signers: [any Signer] = []
    let files = try designators.map { (name) throws(Failure) in (name, try KeyFiles.keys(at: [name])) }
    for (name, keys) in files {
      for key in keys { signers.append(try signer(of: key, from: name)) }
    }
    return signers
  }

  /// The primary key, to certify with.
  /// - Throws: 109 when it may not, 67 when it is protected.
  func certifier(of key: TransferableSecretKey) throws(Failure) -> any Signer {
    do {
      let fingerprint = try valid(of: key).certificationKey().fingerprint
      return try key.unlocked(fingerprint, for: .certify, passwords: passwords)
    } catch .refused(let rule) {
      throw Failure(.keyCannotCertify, "refused by policy: \(PolicyWords.text(rule))")
    } catch {
      throw Failure(error, .keys)
    }
  }

  /// - Parameter designator: of the file, for errors.
  private func signer(of key: TransferableSecretKey, from designator: String) throws(Failure) -> any Signer {
    do throws(OpenPGPError) {
      let usable = try valid(of: key).signingKeys().filter { key.secrets[$0.fingerprint] != nil }
      guard let first = usable.first else { throw OpenPGPError.keyCannot(.sign) }
      return try key.unlocked(first.fingerprint, for: .sign, passwords: passwords)
    } catch .keyCannot {
      throw Failure(
        .keyCannotSign,
        "no secret key in '\(designator)' may sign now: expired, revoked, for something else, or not here"
      )
    } catch .refused(let rule) {
      throw Failure(.keyCannotSign, "'\(designator)' is refused by policy: \(PolicyWords.text(rule))")
    } catch .keyIsLocked, .wrongPassword {
      throw Failure(
        .keyIsProtected,
        "the secret key in '\(designator)' is protected, and no password that was given opens it",
        hint: "--with-key-password=FILE")
    } catch {
      throw Failure(error, .keys)
    }
  }

  private func valid(of key: TransferableSecretKey) -> ValidCertificate {
    ValidCertificate(key.certificate, at: time, now: time, policy: .standard)
  }
}

/// A secret key that is unlocked on its first use, once, whatever comes of it.
final class LazyDecryptor: Decryptor {
  let publicKey: PublicKey
  private let unlock: () throws(OpenPGPError) -> UnlockedKey
  /// A message may have many session keys for this key; to unlock it takes time even when it fails.
  private var unlocked: Result<UnlockedKey, OpenPGPError>?

  init(_ publicKey: PublicKey, unlock: @escaping () throws(OpenPGPError) -> UnlockedKey) {
    self.publicKey = publicKey
    self.unlock = unlock
  }

  /// All keys of `key` that can decrypt, also those that have expired or are revoked: old messages need them.
  static func all(in key: TransferableSecretKey, passwords: [SharedSecretBytes]) -> [LazyDecryptor] {
    key.certificate.publicKeys.filter { $0.algorithm.encrypts && key.secrets[$0.fingerprint] != nil }
      .map { publicKey in
        LazyDecryptor(publicKey) { () throws(OpenPGPError) in
          try key.unlocked(publicKey.fingerprint, for: .decrypt, passwords: passwords)
        }
      }
  }

  func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
    let result = unlocked ?? result()
    unlocked = result
    return try result.get().decrypt(packet)
  }

  private func result() -> Result<UnlockedKey, OpenPGPError> {
    do throws(OpenPGPError) {
      return .success(try unlock())
    } catch {
      return .failure(error)
    }
  }
}
