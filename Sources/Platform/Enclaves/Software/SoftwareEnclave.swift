// SPDX-License-Identifier: Apache-2.0
//
// The substitute for machines without a chip. The private key is in its own handle: sealed under the passcode
// if there is one, otherwise plain and protected only by the keychain item that holds the handle. Nothing
// counts wrong tries.

internal import Primitives
public import Secrets

/// P-256 keys in software; the kind of each key says so.
public struct SoftwareEnclave: Enclave {
  /// ``EnclaveKind/software``, except for the one that a ``TutorialEnclave`` asks.
  public let kind: EnclaveKind

  /// Needs no device; all it knows of a key is in the key's handle.
  public init() { kind = .software }

  /// The same under another name. Neither accepts a handle of the other.
  init(as kind: EnclaveKind) { self.kind = kind }

  /// Always succeeds.
  public func checkAvailability() throws(EnclaveError) {}

  /// Always succeeds: nothing counts wrong tries.
  public func checkReadiness() throws(EnclaveError) {}

  /// Makes a key in memory; see ``Enclave``. The handle holds its private part.
  public func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey {
    try access.requirement.check(enrolment)
    let key = P256PrivateKey()
    let head = EnclaveHandle.head(kind: kind, use: use, access: access, publicKey: key.publicKey)
    let body = try SoftwareBody(
      scalar: key.scalar(), head: head, requirement: access.requirement, enrolment: enrolment)
    return EnclaveHandle(
      kind: kind, use: use, access: access, publicKey: key.publicKey, body: SharedSecretBytes(body.bytes())
    ).key
  }

  /// Reads a handle; see ``Enclave``.
  public func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey {
    let handle = try EnclaveHandle(handle)
    guard handle.kind == kind else { throw .wrongKind }
    _ = try SoftwareBody(handle)
    return handle.key
  }

  /// Nothing is kept beside the handle.
  public func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}

  /// ECDH through libcrypto; see ``Enclave``.
  public func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    let privateKey = try open(key, for: .agreement, authorization)
    do { return try privateKey.sharedSecret(with: publicKey) } catch { throw .invalidInput }
  }

  /// ECDSA through libcrypto; see ``Enclave``.
  public func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] {
    let privateKey = try open(key, for: .signing, authorization)
    do { return try privateKey.signature(digest: digest) } catch { throw .invalidInput }
  }

  private func open(
    _ key: EnclaveKey, for use: EnclaveKeyUse, _ authorization: KeyAuthorization
  ) throws(EnclaveError) -> P256PrivateKey {
    let handle = try key.handle.withBytes { handle throws(EnclaveError) in try EnclaveHandle(handle) }
    guard handle.kind == kind else { throw .wrongKind }
    guard handle.use == use else { throw .invalidInput }
    let body = try SoftwareBody(handle)
    let scalar = try body.scalar(handle, authorization)
    do { return try P256PrivateKey(scalar: scalar, publicKey: handle.publicKey) } catch { throw .corrupt }
  }
}
