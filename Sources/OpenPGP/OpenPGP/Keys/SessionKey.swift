// SPDX-License-Identifier: Apache-2.0

internal import Primitives
public import Secrets

/// The key that a message is encrypted with.
public struct SessionKey: Sendable {
  /// Nil where the packet of the session key does not say (version 6): then the data packet does.
  public let cipher: SymmetricAlgorithm?
  public let bytes: SharedSecretBytes

  public init(cipher: SymmetricAlgorithm?, bytes: SharedSecretBytes) {
    self.cipher = cipher
    self.bytes = bytes
  }

  /// A new key for `cipher`, which is one of ours.
  static func random(_ cipher: SymmetricAlgorithm) -> SessionKey {
    SessionKey(
      cipher: cipher, bytes: SharedSecretBytes(SystemRandom.secretBytes(count: cipher.keyByteCount ?? 0)))
  }
}
