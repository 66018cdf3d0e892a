// SPDX-License-Identifier: Apache-2.0
//
// A message before and after encryption, as values.

public import Foundation
public import MessageFormats
public import Primitives
public import Secrets

/// A message to be encrypted.
public struct PlaintextMessage: ~Copyable, Sendable {
  public let id: MessageID
  public let content: SecretBytes
  public let metadata: MessageMetadata

  public init(id: MessageID = MessageID(), content: consuming SecretBytes, metadata: MessageMetadata) {
    self.id = id
    self.content = content
    self.metadata = metadata
  }
}

/// An AES-256-GCM ciphertext with everything but the key that is needed to open it.
public struct EncryptedBlob: Equatable, Sendable {
  /// 12 bytes.
  public var nonce: Data
  public var ciphertext: Data
  /// 16 bytes.
  public var tag: Data
  /// Canonical JSON, authenticated and not encrypted.
  public var aad: Data
  public var messageId: MessageID
}

/// An encrypted message and the version of the key it is encrypted under.
public struct EncryptedMessage: Equatable, Sendable {
  public static let algorithm = "AES-256-GCM"

  public var blob: EncryptedBlob
  public var keyVersion: Int
  public var algorithm: String { Self.algorithm }
}

/// A message that has been decrypted, and so authenticated.
public struct DecryptedMessage: ~Copyable, Sendable {
  public let content: SecretBytes
  public let metadata: MessageMetadata
  /// Always true: a message that does not authenticate is never returned.
  public var integrityVerified: Bool { true }
}
