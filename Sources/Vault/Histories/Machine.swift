// SPDX-License-Identifier: Apache-2.0
//
// What the rules ask of the machine below them: randomness, public-key algorithms, the device's own keys, and contents.
// The rules themselves call nothing of the system.

internal import Primitives
public import Secrets

/// A P-256 key pair whose private key is in memory: of a slot, an owner, or one envelope.
public struct KeyPair: Sendable {
  /// The scalar, 32 bytes.
  public let privateKey: SharedSecretBytes
  /// 65 bytes (SEC 1, 2.3.3).
  public let publicKey: [UInt8]

  public init(privateKey: SharedSecretBytes, publicKey: [UInt8]) {
    self.privateKey = privateKey
    self.publicKey = publicKey
  }
}

/// A private key: in the device's enclave, or in memory.
public enum PrivateKey: Sendable {
  case device
  case memory(KeyPair)
}

/// The machine that a history runs on.
public protocol Machine {
  /// Random bytes; not secret.
  mutating func random(_ count: Int) -> [UInt8]
  /// Random bytes for a key.
  mutating func randomSecret(_ count: Int) -> SharedSecretBytes
  /// A new key pair in memory.
  mutating func makeKeyPair() -> KeyPair
  /// The signature of `message`, 64 bytes: r ‖ s, with s in the lower half of the group's order.
  func signature(of message: [UInt8], by key: PrivateKey) -> [UInt8]
  /// Whether `signature` is one of `message` by the owner of `publicKey`, with s in the lower half.
  func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool
  /// Whether this is a point of the curve: what is not cannot be sealed to.
  func isPublicKey(_ key: [UInt8]) -> Bool
  /// The x coordinate that both keys agree on, 32 bytes; nil if `publicKey` is not a point of the curve.
  func sharedSecret(with publicKey: [UInt8], by key: PrivateKey) -> SharedSecretBytes?
  /// A content that this device has; nil if it has not.
  func frame(of content: ContentName) -> SharedSecretBytes?
  /// Whether this device has a content. Opens nothing: it is asked of every version.
  func hasFrame(of content: ContentName) -> Bool
}

extension Machine {
  /// Whether this is a point of P-256.
  public func isPublicKey(_ key: [UInt8]) -> Bool { P256.isPublicKey(key) }
}
