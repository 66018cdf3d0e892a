// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, sections 5.1, 5.3, 5.13 and 10.3: messages to keys and passwords, signed inside. The format
// follows from what the certificates of all recipients say that they can read, and from nothing else (D27);
// it is known before anything is written. Nothing is ever compressed: the length of compressed data reveals
// something about its content.

internal import Primitives
public import Secrets

/// One message to be encrypted.
public struct MessageEncryption {
  /// The format for a password when no certificate says what its holder can read.
  public enum PasswordProfile: Sendable {
    /// Version 1 with iterated and salted S2K: what GnuPG reads.
    case universal
    /// Version 2 with Argon2id.
    case advanced
  }

  /// How the message will be written.
  public let format: EncryptionFormat
  /// The key of the message, for callers that keep it.
  public let sessionKey: SessionKey
  /// The session key, encrypted to the keys of the recipients.
  let recipientPackets: [PKESK]
  /// The certificates of these keys.
  let intendedRecipients: [Fingerprint]
  let passwords: [SharedSecretBytes]
  let passwordProfile: PasswordProfile
  let time: Timestamp
  /// The keys that sign; the signatures are inside the encryption.
  public var signers: [any Signer] = []
  /// The hash of the signatures.
  public var signatureHash: HashAlgorithm = .documentDefault
  /// Whether the data is text: UTF-8, signed with line ends as CR LF.
  public var isText = false
  /// Version 2: chunks of 2^(12 + 6) octets, 256 KiB: short enough for every reader, and tags cost nothing.
  var chunkOctet: UInt8 = 12
}

extension MessageEncryption {
  /// Chooses the format, and encrypts a new session key to the recipients.
  /// - Parameters:
  ///   - recipients: the message is encrypted to every key of these that may be used for `purpose`, and can be.
  ///   - passwords: each of them opens the message too.
  ///   - passwordProfile: the form of the message when there are no recipients; with `universal` and passwords
  ///     it is version 1 whatever the recipients can read.
  ///   - purpose: what a key must be flagged for, one of these at least.
  ///   - time: when the message is made.
  /// - Throws: ``OpenPGPError/noEncryptionKey`` when a certificate has no key for it, or when there is neither
  ///   a certificate nor a password; ``OpenPGPError/refused(_:)`` when a rule is why;
  ///   ``OpenPGPError/overLimit(_:)`` for more than ``Limits/recipientCount``.
  public init(
    to recipients: [Certificate], passwords: [SharedSecretBytes] = [],
    passwordProfile: PasswordProfile = .universal,
    purpose: KeyFlags = [.encryptCommunications, .encryptStorage], policy: Policy = .standard,
    time: Timestamp
  ) throws(OpenPGPError) {
    guard !recipients.isEmpty || !passwords.isEmpty else { throw .noEncryptionKey }
    var validCertificates: [ValidCertificate] = []
    var keys: [[PublicKey]] = []
    let recipients = Certificate.merged(recipients)
    for certificate in recipients {
      let valid = ValidCertificate(certificate.knowing(recipients), at: time, now: time, policy: policy)
      keys.append(try valid.encryptionKeys(for: purpose))
      validCertificates.append(valid)
    }
    guard keys.joined().count + passwords.count <= Limits.recipientCount else {
      throw .overLimit(.recipientCount)
    }
    let allowsVersion2 = passwords.isEmpty || passwordProfile == .advanced
    let format =
      validCertificates.isEmpty
      ? (allowsVersion2 ? .version2(EncryptionFormat.preferredSuite) : .version1(.aes256))
      : EncryptionFormat(for: validCertificates, allowsVersion2: allowsVersion2)
    let sessionKey = SessionKey.random(format.cipher)
    var packets: [PKESK] = []
    for keys in keys { packets += try Self.packets(sessionKey, to: keys, format) }
    self.init(
      format: format, sessionKey: sessionKey, recipientPackets: packets,
      intendedRecipients: validCertificates.map(\.certificate.fingerprint), passwords: passwords,
      passwordProfile: passwordProfile, time: time)
  }

  /// Writes the message with the data of `source`, to its end.
  /// - Throws: what the source, the sink and the signers throw; ``OpenPGPError/notText`` for text that is not
  ///   UTF-8.
  public func encrypt(from source: any ByteSource, to sink: any ByteSink) throws(OpenPGPError) {
    let composer = try MessageComposer(source, isText: isText, signer: try documentSigner())
    for packet in recipientPackets {
      try Packet.pkesk(packet).write(to: sink)
    }
    for password in passwords {
      try Packet.skesk(try packet(for: password)).write(to: sink)
    }
    try writeBody(of: composer, to: sink)
  }

  /// Writes the packet of integrity protected data around `plaintext`.
  func writeBody(of plaintext: any ByteSource, to sink: any ByteSink) throws(OpenPGPError) {
    let body = PartialBodyWriter(.seipd, to: sink)
    switch format {
    case .version1(let cipher):
      try body.write(SEIPDHeader.version1.bytes)
      try body.write(allOf: try SEIPDv1Encryptor.source(plaintext, cipher, key: sessionKey.bytes))
    case .version2(let suite):
      let salt = SystemRandom.publicBytes(count: SEIPDHeader.saltByteCount)
      let header = SEIPDHeader.version2(
        suite.cipher, suite.aead, chunkOctet: chunkOctet, salt: salt)
      try body.write(header.bytes)
      let keys = try SEIPDv2Keys(
        suite, chunkOctet: chunkOctet, salt: salt, sessionKey: sessionKey.bytes)
      try body.write(allOf: try SEIPDv2Encryptor.source(plaintext, keys))
    }
    try body.finish()
  }

  /// The session key for those of one certificate's `keys` that can be encrypted to: keys with malformed
  /// fields, or with parameters that the standard forbids (section 11.5.1), are left out.
  ///
  /// If one of them stands up to quantum computers, the newest such key alone: a second packet, to a key that does
  /// not, would give away what the first protects.
  /// - Throws: ``OpenPGPError/noEncryptionKey`` when there are no others.
  private static func packets(
    _ sessionKey: SessionKey, to keys: [PublicKey], _ format: EncryptionFormat
  ) throws(OpenPGPError) -> [PKESK] {
    var packets: [PKESK] = []
    let strong = keys.filter(\.algorithm.isPostQuantum).sorted { $0.creationTime > $1.creationTime }
    for key in strong + keys.filter({ !$0.algorithm.isPostQuantum }) {
      if packets.contains(where: \.algorithm.isPostQuantum) { break }
      do throws(OpenPGPError) {
        packets.append(
          try key.encrypt(sessionKey, version: format.publicKeyPacketVersion, isAnonymous: false))
      } catch .malformed(.publicKey), .unsupported {
        continue
      } catch {
        throw error
      }
    }
    guard !packets.isEmpty else { throw .noEncryptionKey }
    return packets
  }

  private func documentSigner() throws(OpenPGPError) -> DocumentSigner? {
    guard !signers.isEmpty else { return nil }
    let named = intendedRecipients.count <= Self.namedRecipientCountLimit ? intendedRecipients : []
    return try DocumentSigner(
      signers, type: isText ? .text : .binary, hash: signatureHash, time: time, intendedRecipients: named)
  }

  private func packet(for password: SharedSecretBytes) throws(OpenPGPError) -> SKESK {
    let stringToKey: StringToKey =
      switch passwordProfile {
      case .universal:
        .iterated(
          .sha256, salt: SystemRandom.publicBytes(count: StringToKey.saltByteCount),
          codedCount: Self.codedCount)
      case .advanced: .newArgon2()
      }
    switch format {
    case .version1:
      return try .version4(sessionKey, cipher: .aes256, password: password, stringToKey)
    case .version2:
      return try .version6(sessionKey, EncryptionFormat.preferredSuite, password: password, stringToKey)
    }
  }

  /// The highest count of iterated S2K: 65,011,712 octets are hashed (section 3.7.1.3).
  private static let codedCount: UInt8 = 255
  /// The hashed area of a version 4 signature holds 65,535 octets, and thereby some 1,800 fingerprints of 32.
  private static let namedRecipientCountLimit = 1000
}

extension EncryptionFormat {
  /// The format that all of `recipients` can read.
  /// - Parameters:
  ///   - recipients: one at least.
  ///   - allowsVersion2: false when there are readers without a certificate, who may not know version 2.
  init(for recipients: [ValidCertificate], allowsVersion2: Bool) {
    if allowsVersion2, recipients.allSatisfy({ $0.features.contains(.seipdVersion2) }) {
      self = .version2(
        Self.suites.first { suite in
          recipients.allSatisfy {
            $0.preferredAEADCiphersuites.contains(suite) || suite == Self.preferredSuite && $0.impliesAES256
          }
        } ?? Self.mandatorySuite)
    } else {
      self = .version1(
        Self.ciphers.first { cipher in
          recipients.allSatisfy {
            $0.preferredSymmetricAlgorithms.contains(cipher) || cipher == .aes256 && $0.impliesAES256
          }
        } ?? .aes128)
    }
  }

  /// The best form of version 2.
  static let preferredSuite = AEADCiphersuite(.aes256, .ocb)

  /// In the order in which they are chosen.
  private static let suites = [preferredSuite, AEADCiphersuite(.aes256, .gcm)]
  /// What every reader of version 2 has (section 9.6).
  private static let mandatorySuite = AEADCiphersuite(.aes128, .ocb)
  /// AES-128 is what everybody can read (section 9.3).
  private static let ciphers: [SymmetricAlgorithm] = [.aes256, .aes192]
}
