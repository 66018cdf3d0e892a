// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// The key that a message is encrypted with.
public struct SessionKey: Sendable {
  /// Nil where the packet of the session key does not say (version 6): then the data packet does.
  public let cipher: SymmetricAlgorithm?
  public let bytes: SharedSecret

  public init(cipher: SymmetricAlgorithm?, bytes: SharedSecret) {
    self.cipher = cipher
    self.bytes = bytes
  }
}
