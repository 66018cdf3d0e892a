// SPDX-License-Identifier: Apache-2.0
//
// The private part as the engine needs it: a signer and a decryptor that borrow it for one operation. Between two
// operations, and while a message of any size is read or written, no private part is in memory.

public import OpenPGP
internal import Secrets

/// Lends the private part of an identity, a transferable secret key without protection, to a closure, and erases it
/// when the closure returns.
public typealias PrivatePartLender = (Fingerprint, (RawSpan) throws -> Void) throws -> Void

/// One key of an identity, whose private part is borrowed when it is needed.
public final class BorrowedKey: Signer, Decryptor {
  /// The public half.
  public let publicKey: PublicKey
  /// Of the certificate that it belongs to, under which the private part is kept.
  public let identity: Fingerprint
  /// Why the private part could not be borrowed. The engine knows only that the key is locked.
  public private(set) var failure: (any Error)?
  /// Whether it has opened a session key.
  public private(set) var hasOpened = false
  private let lend: PrivatePartLender

  /// - Parameters:
  ///   - publicKey: the primary key or a subkey.
  ///   - identity: the fingerprint of the primary key.
  ///   - lend: is called for each operation.
  public init(_ publicKey: PublicKey, of identity: Fingerprint, lend: @escaping PrivatePartLender) {
    self.publicKey = publicKey
    self.identity = identity
    self.lend = lend
  }

  /// See `Signer`.
  public func sign(digest: [UInt8], hash: HashAlgorithm) throws(OpenPGPError) -> SignatureMaterial {
    try borrow(for: .sign) { (key) throws(OpenPGPError) in try key.sign(digest: digest, hash: hash) }
  }

  /// See `Decryptor`.
  public func decrypt(_ packet: PKESK) throws(OpenPGPError) -> SessionKey {
    let key = try borrow(for: .decrypt) { (key) throws(OpenPGPError) in try key.decrypt(packet) }
    hasOpened = true
    return key
  }

  private func borrow<Value>(
    for use: OpenPGPError.KeyUse, _ body: (UnlockedKey) throws(OpenPGPError) -> Value
  ) throws(OpenPGPError) -> Value {
    // After a failure, such as a cancelled prompt, nobody is asked again.
    guard failure == nil else { throw .keyIsLocked }
    var result: Result<Value, OpenPGPError>?
    do {
      try lend(identity) { bytes in
        result = Self.use(bytes, publicKey.fingerprint, for: use, body)
      }
    } catch {
      failure = error
      throw .keyIsLocked
    }
    guard let result else { throw .internalFailure }
    return try result.get()
  }

  private static func use<Value>(
    _ bytes: RawSpan, _ fingerprint: Fingerprint, for use: OpenPGPError.KeyUse,
    _ body: (UnlockedKey) throws(OpenPGPError) -> Value
  ) -> Result<Value, OpenPGPError> {
    do throws(OpenPGPError) {
      let source = MemorySource(SharedSecretBytes(SecretBytes(copying: bytes)))
      guard let key = try TransferableSecretKey.readAll(source).first else { throw .keyCannot(use) }
      return .success(try body(try key.unlocked(fingerprint, for: use, passwords: [])))
    } catch {
      return .failure(error)
    }
  }
}
