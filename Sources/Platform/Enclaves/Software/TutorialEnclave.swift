// SPDX-License-Identifier: Apache-2.0
//
// The enclave of the tutorial. It is a type and a kind of its own (D29): its handles say so, no other enclave accepts
// them, and it accepts no other's. A machine without it has no enclave of this kind.

public import Secrets

/// P-256 keys for practice, in software.
public struct TutorialEnclave: Enclave {
  /// Always ``EnclaveKind/tutorial``.
  public let kind = EnclaveKind.tutorial
  private let software = SoftwareEnclave(as: .tutorial)

  /// All it knows of a key is in the key's handle.
  public init() {}

  /// Always succeeds.
  public func checkAvailability() throws(EnclaveError) {}

  /// Always succeeds: nothing counts wrong tries.
  public func checkReadiness() throws(EnclaveError) {}

  /// Makes a key in memory; see ``Enclave``.
  public func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey {
    try software.createKey(use: use, access: access, enrolment: enrolment)
  }

  /// Reads a handle; see ``Enclave``.
  public func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey { try software.loadKey(handle) }

  /// Nothing is kept beside the handle.
  public func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}

  /// ECDH; see ``Enclave``.
  public func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    try software.sharedSecret(key, with: publicKey, authorization: authorization)
  }

  /// ECDSA; see ``Enclave``.
  public func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] {
    try software.signature(key, digest: digest, authorization: authorization)
  }
}
