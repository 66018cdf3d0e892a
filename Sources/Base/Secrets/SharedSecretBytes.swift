// SPDX-License-Identifier: Apache-2.0

/// Secret bytes with several owners: the move-only bytes stay in one place, the reference is copied. Not the output
/// of a key agreement, which this field calls a shared secret.
///
/// For caches and collections, which cannot hold a move-only value themselves. The bytes are erased when
/// the last reference goes.
public final class SharedSecretBytes: Sendable {
  private let bytes: SecretBytes

  /// Takes over `bytes` without copying them.
  public init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  /// The bytes of what was typed.
  public convenience init(_ passphrase: borrowing Passphrase) {
    self.init(passphrase.withBytes { SecretBytes(copying: $0) })
  }

  /// The number of bytes.
  public var count: Int { bytes.count }

  /// Lends the bytes to `body`.
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try bytes.withBytes(body)
  }
}
