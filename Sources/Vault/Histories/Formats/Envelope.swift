// SPDX-License-Identifier: Apache-2.0
//
// An envelope hands keys of the account to one device or one slot:
//
//   mechanism 1 (1) ‖ length of the rest (4) ‖ recipient's tag (8) ‖ ephemeral public key (65) ‖ salt (32)
//   ‖ key check (32) ‖ nonce (12) ‖ sealed keys ‖ tag (16)
//
// It is sealed as Specs/envelopes.md seals to an enclave's key, with the label "coffer account v1 envelope". The head is
// everything before the key check ‖ account (16) ‖ epoch (8) ‖ kind of recipient (1) ‖ id (16) ‖ public key (65), so an
// envelope opens for nobody else and nowhere else. The keys are
//
//   epoch keys: count (2), number (4), key (32) each ‖ has the URL's secret (1) [‖ secret (16)]
//   ‖ has an owner key (1) [‖ private key (32), public key (65)]
//
// with the newest epoch first and the others in rising order. They are in locked memory, and nowhere else.

internal import Primitives
public import Secrets

/// What an envelope hands over. The recipient compares each key with what the owner has signed.
public struct EnvelopeContents: Sendable {
  /// The one to write under, then the former ones.
  public var epochKeys: [EpochKeys]
  /// The secret in the account's URL, 16 bytes.
  public var urlSecret: SharedSecretBytes?
  /// The owner key, for slots.
  public var owner: KeyPair?

  public init(epochKeys: [EpochKeys], urlSecret: SharedSecretBytes? = nil, owner: KeyPair? = nil) {
    self.epochKeys = epochKeys
    self.urlSecret = urlSecret
    self.owner = owner
  }
}

/// Who opens an envelope.
public enum EnvelopeRecipient: Hashable, Sendable {
  case device(DeviceID)
  case slot(SlotID)

  fileprivate var bytes: [UInt8] {
    switch self {
    case .device(let id): [1] + id.bytes
    case .slot(let id): [2] + id.bytes
    }
  }
}

/// Seals and opens envelopes.
public enum Envelope {
  /// Bytes in a recipient's tag.
  public static let tagByteCount = 8
  /// Bytes in the secret of a URL.
  public static let urlSecretByteCount = 16
  /// Bytes of an envelope.
  public static let byteCountLimit = 1 << 16
  /// Epoch keys that an envelope has room for, whatever else is in it: more than 1,800.
  public static let epochCountLimit =
    (byteCountLimit - sealedOffset - AES256GCM.tagByteCount - EnvelopeContents.byteCountLimit(epochCount: 0))
    / EnvelopeContents.epochByteCount

  private static let mechanism: UInt8 = 1
  private static let label = "coffer account v1 envelope"
  private static let saltByteCount = 32
  private static let checkByteCount = 32
  /// Mechanism, length, tag, ephemeral key and salt.
  private static let publicByteCount = 1 + 4 + tagByteCount + P256.publicKeyByteCount + saltByteCount
  private static let sealedOffset = publicByteCount + checkByteCount + AES256GCM.nonceByteCount

  /// By this a recipient finds its envelope: the first 8 bytes of SHA-256(public key ‖ epoch).
  public static func tag(publicKey: [UInt8], epoch: EpochName) -> [UInt8] {
    var bytes = publicKey
    bytes.append(epoch)
    return Array(SHA256.hash(bytes.rawSpan).prefix(tagByteCount))
  }

  /// The tag of an envelope.
  public static func tag(of envelope: [UInt8]) throws(FormatError) -> [UInt8] {
    try Fields(envelope).tag
  }

  /// Seals keys to one recipient.
  /// - Parameters:
  ///   - contents: at least one epoch key, each epoch once, ``epochCountLimit`` at most.
  ///   - recipient: opens it.
  ///   - publicKey: the recipient's agreement key, a point of the curve.
  ///   - epoch: that in the head of the object that holds the envelope.
  ///   - account: that of the object.
  ///   - machine: gives randomness and the ephemeral key.
  public static func seal(
    _ contents: EnvelopeContents, to recipient: EnvelopeRecipient, publicKey: [UInt8], epoch: EpochName,
    account: AccountID, machine: inout some Machine
  ) -> [UInt8] {
    let plaintext = contents.plaintext()
    let ephemeral = machine.makeKeyPair()
    var envelope: [UInt8] = [mechanism]
    envelope.append(bigEndian: UInt32(sealedOffset - 5 + plaintext.count + AES256GCM.tagByteCount))
    envelope += tag(publicKey: publicKey, epoch: epoch) + ephemeral.publicKey
    let salt = machine.random(saltByteCount)
    envelope += salt
    guard let secret = machine.sharedSecret(with: publicKey, by: .memory(ephemeral)) else {
      preconditionFailure("the public key of a member is a point of the curve")
    }
    let head = head(envelope, recipient: recipient, publicKey: publicKey, epoch: epoch, account: account)
    envelope += derive(secret, salt, head, .check).withBytes { [UInt8](copying: $0) }
    let nonce = machine.random(AES256GCM.nonceByteCount)
    envelope += nonce
    let range = envelope.count..<envelope.count + plaintext.count + AES256GCM.tagByteCount
    envelope += [UInt8](repeating: 0, count: range.count)
    precondition(envelope.count <= byteCountLimit, "an envelope of more than 64 KiB")
    let aad = associatedData(head, plaintextByteCount: plaintext.count)
    var cipher = AES256GCM()
    do {
      try derive(secret, salt, head, .key).withBytes { key throws(CryptoError) in
        try plaintext.withBytes { plaintext throws(CryptoError) in
          try envelope.withMutableRawSpan { envelope throws(CryptoError) in
            try envelope.withRange(range) { output throws(CryptoError) in
              try cipher.seal(
                plaintext, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan, into: &output)
            }
          }
        }
      }
    } catch { preconditionFailure("64 KiB can be sealed") }
    return envelope
  }

  /// Opens an envelope.
  /// - Parameters:
  ///   - envelope: one of ``ControlSeal/envelopes(of:)``.
  ///   - recipient: whose envelope it is to be.
  ///   - publicKey: the recipient's.
  ///   - key: the private key that belongs to it.
  ///   - epoch: that in the head of the object.
  ///   - account: that of the object.
  ///   - machine: has the private key.
  /// - Throws: ``FormatError/wrongKey`` for another recipient's envelope, or a place that is not its own.
  public static func open(
    _ envelope: [UInt8], recipient: EnvelopeRecipient, publicKey: [UInt8], key: PrivateKey, epoch: EpochName,
    account: AccountID, machine: some Machine
  ) throws(FormatError) -> EnvelopeContents {
    let fields = try Fields(envelope)
    guard fields.tag == tag(publicKey: publicKey, epoch: epoch) else { throw .wrongKey }
    guard let secret = machine.sharedSecret(with: fields.ephemeralKey, by: key) else { throw .notAuthentic }
    let head = head(
      Array(envelope[..<publicByteCount]), recipient: recipient, publicKey: publicKey, epoch: epoch,
      account: account)
    let check = derive(secret, fields.salt, head, .check)
    guard check.withBytes({ constantTimeEqual($0, fields.check.rawSpan) }) else { throw .wrongKey }
    let sealed = envelope.rawSpan.extracting(droppingFirst: sealedOffset)
    var plaintext = SecretBytes(zeroed: sealed.byteCount - AES256GCM.tagByteCount)
    let aad = associatedData(head, plaintextByteCount: plaintext.count)
    var cipher = AES256GCM()
    do {
      try derive(secret, fields.salt, head, .key).withBytes { key throws(CryptoError) in
        try plaintext.withMutableBytes { plaintext throws(CryptoError) in
          try cipher.open(
            sealed, key: key, nonce: fields.nonce.rawSpan, authenticating: aad.rawSpan, into: &plaintext)
        }
      }
    } catch { throw .notAuthentic }
    return try EnvelopeContents(plaintext)
  }

  /// One of several envelopes, whatever its mechanism.
  static func read(_ fields: inout FieldReader) throws(FormatError) -> [UInt8] {
    let mechanism = try fields.byte()
    let count: UInt32 = try fields.integer()
    guard mechanism > 0 else { throw .malformed }
    guard count <= byteCountLimit else { throw .tooLarge }
    var envelope = [mechanism]
    envelope.append(bigEndian: count)
    return envelope + (try fields.bytes(Int(count)))
  }

  /// The public fields.
  private struct Fields {
    let tag: [UInt8]
    let ephemeralKey: [UInt8]
    let salt: [UInt8]
    let check: [UInt8]
    let nonce: [UInt8]

    init(_ envelope: [UInt8]) throws(FormatError) {
      guard envelope.count <= byteCountLimit else { throw .tooLarge }
      var fields = FieldReader(envelope)
      guard try fields.byte() == mechanism else { throw .unknownVersion }
      guard Int(try fields.integer() as UInt32) == fields.remaining else { throw .malformed }
      tag = try fields.bytes(tagByteCount)
      ephemeralKey = try fields.publicKey()
      salt = try fields.bytes(saltByteCount)
      check = try fields.bytes(checkByteCount)
      nonce = try fields.bytes(AES256GCM.nonceByteCount)
      guard fields.remaining > AES256GCM.tagByteCount else { throw .malformed }
    }
  }

  private enum Purpose: UInt8 {
    case key = 1
    case check = 2
  }

  private static func head(
    _ fields: [UInt8], recipient: EnvelopeRecipient, publicKey: [UInt8], epoch: EpochName, account: AccountID
  ) -> [UInt8] {
    var head = fields + account.bytes
    head.append(epoch)
    return head + recipient.bytes + publicKey
  }

  /// HKDF(secret, salt, label ‖ 0 ‖ purpose (1) ‖ SHA-256(head))
  private static func derive(
    _ secret: SharedSecretBytes, _ salt: [UInt8], _ head: [UInt8], _ purpose: Purpose
  ) -> SymmetricKey {
    let info = Array(label.utf8) + [0, purpose.rawValue] + SHA256.hash(head.rawSpan)
    var hkdf = HKDF()
    return secret.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: info.rawSpan) }
  }

  /// head ‖ plaintext length (8)
  private static func associatedData(_ head: [UInt8], plaintextByteCount: Int) -> [UInt8] {
    var aad = head
    aad.append(bigEndian: UInt64(plaintextByteCount))
    return aad
  }
}
