// SPDX-License-Identifier: Apache-2.0
//
// A message before and after encryption, as values, for callers that keep ciphertexts themselves.

public import Foundation
public import MessageFormats
public import Primitives
public import Secrets

/// A message to be encrypted.
public struct PlaintextMessage: ~Copyable, Sendable {
  /// Names the message; its key is derived from it.
  public let id: MessageID
  /// The content.
  public let content: SecretBytes
  /// Title, tags, type and date; encrypted with the content.
  public let metadata: MessageMetadata

  /// A message; a new identifier unless you give one.
  public init(id: MessageID = MessageID(), content: consuming SecretBytes, metadata: MessageMetadata) {
    self.id = id
    self.content = content
    self.metadata = metadata
  }
}

/// An AES-256-GCM ciphertext with everything needed to open it except the key.
public struct EncryptedBlob: Equatable, Sendable {
  /// 12 bytes.
  public var nonce: Data
  /// The encrypted frame of metadata and content.
  public var ciphertext: Data
  /// 16 bytes.
  public var tag: Data
  /// Canonical JSON, authenticated and not encrypted.
  public var aad: Data
  /// Names the message; authenticated as part of ``aad``.
  public var messageId: MessageID
}

/// An encrypted message and the version of its vault key.
public struct EncryptedMessage: Equatable, Sendable {
  /// The name of the only algorithm.
  public static let algorithm = "AES-256-GCM"

  /// The ciphertext.
  public var blob: EncryptedBlob
  /// The version of the vault key that encrypted it.
  public var keyVersion: Int
  /// The name of the algorithm that encrypted it.
  public var algorithm: String { Self.algorithm }
}

/// A message that has been decrypted, and so authenticated.
public struct DecryptedMessage: ~Copyable, Sendable {
  /// The content.
  public let content: SecretBytes
  /// Title, tags, type and date.
  public let metadata: MessageMetadata
  /// Always true: a message that does not authenticate is never returned.
  public var integrityVerified: Bool { true }
}

/// Encrypts and decrypts single messages under a vault key.
public struct MessageEncryption: ~Copyable {
  private var cipher = MessageCipher()

  /// An encryption without keys; each call names its own.
  public init() {}

  /// Encrypts a message.
  ///
  /// - Parameters:
  ///   - message: what to encrypt.
  ///   - key: the vault key.
  ///   - timestamp: seconds since 1970, UTC; becomes part of the associated data.
  ///   - keyVersion: the version of `key`.
  /// - Throws: `VaultError.encryptionFailed`; `VaultError.messageTooLarge`, `.metadataOutOfBounds`.
  public mutating func encrypt(
    _ message: borrowing PlaintextMessage, timestamp: Int64, key: borrowing SymmetricKey, keyVersion: Int
  ) throws(VaultError) -> EncryptedMessage {
    var box = MessageBox()
    try message.content.withBytes { content throws(VaultError) in
      try box.setFrame(message.metadata, content)
    }
    let id = message.id
    do {
      try key.withBytes { key throws(CryptoError) in
        try box.withMutableBytes { box throws(CryptoError) in
          try cipher.seal(&box, id: id, timestamp: timestamp, keyVersion: keyVersion, vaultKey: key)
        }
      }
    } catch {
      throw .encryptionFailed
    }
    let aad = cipher.associatedData(id: id, timestamp: timestamp, keyVersion: keyVersion)
    let nonceCount = AES256GCM.nonceByteCount
    let blob = box.withBytes { box in
      EncryptedBlob(
        nonce: Data(box.extracting(first: nonceCount)),
        ciphertext: Data(box.extracting(nonceCount..<box.byteCount - AES256GCM.tagByteCount)),
        tag: Data(box.extracting(last: AES256GCM.tagByteCount)), aad: Data(aad), messageId: id)
    }
    return EncryptedMessage(blob: blob, keyVersion: keyVersion)
  }

  /// Checks and decrypts a message.
  ///
  /// - Parameters:
  ///   - message: what ``encrypt(_:timestamp:key:keyVersion:)`` gave.
  ///   - timestamp: the one it was encrypted with.
  ///   - key: the vault key of the message's version.
  /// - Throws: `VaultError.dataTampered` when blob, identifier, version, time and key do not match.
  public mutating func decrypt(
    _ message: EncryptedMessage, timestamp: Int64, key: borrowing SymmetricKey
  ) throws(VaultError) -> DecryptedMessage {
    let blob = message.blob
    let expected = cipher.associatedData(
      id: blob.messageId, timestamp: timestamp, keyVersion: message.keyVersion)
    let box = blob.nonce + blob.ciphertext + blob.tag
    guard Array(blob.aad) == expected, blob.nonce.count == AES256GCM.nonceByteCount,
      blob.tag.count == AES256GCM.tagByteCount
    else { throw .dataTampered(blob.messageId) }
    var frame = SecretBytes(zeroed: box.count - MessageCipher.overheadByteCount)
    do {
      try key.withBytes { key throws(CryptoError) in
        try frame.withMutableBytes { frame throws(CryptoError) in
          try cipher.open(
            box.bytes, id: blob.messageId, timestamp: timestamp, keyVersion: message.keyVersion,
            vaultKey: key, into: &frame)
        }
      }
    } catch {
      throw .dataTampered(blob.messageId)
    }
    guard let read = frame.withBytes({ MessageFrame.read($0) }) else { throw .dataTampered(blob.messageId) }
    let content = frame.withBytes { SecretBytes(copying: $0.extracting(droppingFirst: read.contentOffset)) }
    return DecryptedMessage(content: content, metadata: read.metadata)
  }
}

extension Data {
  fileprivate init(_ bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
}
