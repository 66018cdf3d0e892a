// SPDX-License-Identifier: Apache-2.0

public import Secrets

/// A 256-bit key for AES-256-GCM or HKDF, in locked memory, erased at its end.
public struct SymmetricKey: ~Copyable, Sendable {
  /// Bytes in a key.
  public static let byteCount = 32

  private let bytes: SecretBytes

  /// A new key from the system's generator.
  public init() { bytes = SystemRandom.secretBytes(count: Self.byteCount) }

  /// Takes 32 bytes as a key.
  /// - Throws: `CryptoError.invalidKey` for any other length.
  public init(_ bytes: consuming SecretBytes) throws(CryptoError) {
    guard bytes.count == Self.byteCount else { throw .invalidKey }
    self.bytes = bytes
  }

  /// Copies 32 bytes into a key; the caller erases the original.
  /// - Throws: `CryptoError.invalidKey` for any other length.
  public init(copying bytes: RawSpan) throws(CryptoError) {
    try self.init(SecretBytes(copying: bytes))
  }

  /// Lends the raw key.
  public borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R { try bytes.withBytes(body) }

  /// A key of its own for a second owner.
  public borrowing func duplicate() -> SymmetricKey { SymmetricKey(sized: bytes.duplicate()) }

  /// Whether both are the same key, in constant time.
  public borrowing func isEqual(to other: borrowing SymmetricKey) -> Bool { bytes.isEqual(to: other.bytes) }

  init(sized bytes: consuming SecretBytes) { self.bytes = bytes }
}
