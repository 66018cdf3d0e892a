// SPDX-License-Identifier: Apache-2.0

public import ProtectedData
public import Secrets

/// A private key and its metadata, which change together (Specs/envelopes.md, "Key and metadata").
public struct ListedPrivateKey: Sendable {
  /// The transferable secret key, without protection.
  public let secret: SharedSecretBytes
  /// Its kind.
  public let payload: PrivateKeyPayload
  /// The metadata, with the fingerprint of the key.
  public let identity: PGPKeyIdentity

  /// A key with its metadata.
  public init(_ secret: SharedSecretBytes, _ payload: PrivateKeyPayload, _ identity: PGPKeyIdentity) {
    self.secret = secret
    self.payload = payload
    self.identity = identity
  }
}
