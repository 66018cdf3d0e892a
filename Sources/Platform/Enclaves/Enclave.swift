// SPDX-License-Identifier: Apache-2.0
//
// P-256 keys that do not leave the device that holds them: a TPM 2.0, a Secure Enclave, or a substitute in
// software that is labelled as such. No kind is ever replaced by another automatically: a handle says which
// kind made it, and only that kind accepts it.

public import Secrets

/// Where an enclave's keys are. The numbers are stored.
public enum EnclaveKind: UInt8, Sendable, CaseIterable {
  /// A TPM 2.0 of this machine.
  case tpm = 1
  /// Apple's Secure Enclave.
  case secureEnclave = 2
  /// A substitute without hardware; it is called 'software' wherever it is shown.
  case software = 3
  /// A stand-in for practice: no coffer on a disk has its keys, and no machine accepts them.
  case tutorial = 4

  /// Whether keys are in a chip.
  public var isHardware: Bool {
    switch self {
    case .tpm, .secureEnclave: true
    case .software, .tutorial: false
    }
  }
}

/// Makes and uses P-256 keys.
///
/// Calls may come from any thread and block until the chip has answered.
public protocol Enclave: Sendable {
  var kind: EnclaveKind { get }

  /// Whether the enclave answers now.
  /// - Throws: `EnclaveError.unavailable`, `.noLibrary`, `.notAnswering`.
  func checkAvailability() throws(EnclaveError)

  /// Whether a key that asks for a passcode can be used now.
  /// - Throws: `EnclaveError.unavailable`, `.noLibrary`, `.notAnswering`, `.lockedOut`.
  func checkReadiness() throws(EnclaveError)

  /// Whether this key, which asks for a passcode, can be used now.
  /// - Throws: `EnclaveError.unavailable`, `.noLibrary`, `.notAnswering`, `.lockedOut`, `.otherChip`; `.corrupt`, `.wrongKind`.
  func checkReadiness(of key: EnclaveKey) throws(EnclaveError)

  /// What tells the keys of one chip from those of another: the same bytes, the same chip. The chip is not asked.
  /// - Throws: `EnclaveError.corrupt`; `.wrongKind` for a key of another kind of enclave.
  func origin(of key: EnclaveKey) throws(EnclaveError) -> [UInt8]

  /// Makes a key. The key is lost with its ``EnclaveKey/handle``.
  ///
  /// - Parameters:
  ///   - use: what the key is for.
  ///   - access: what each use will ask for.
  ///   - enrolment: what authorizes later uses, as `access` demands; empty if it demands nothing.
  /// - Throws: ``EnclaveError``
  func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey

  /// Reads a handle, without using the key.
  /// - Throws: `EnclaveError.corrupt`; `.wrongKind` for a handle of another kind of enclave.
  func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey

  /// Deletes what the enclave keeps of a key, if anything.
  func deleteKey(_ key: EnclaveKey) throws(EnclaveError)

  /// ECDH: the x coordinate of the shared point, 32 bytes (SEC 1, 3.3.1).
  ///
  /// - Parameters:
  ///   - key: one of this enclave, for agreement.
  ///   - publicKey: the other side's, 65 bytes (SEC 1, 2.3.3, uncompressed).
  ///   - authorization: what the key asks for.
  func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes

  /// ECDSA over a SHA-256 digest; the signature in DER (RFC 3279, 2.2.3).
  func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8]
}

extension Enclave {
  /// Reads a handle that is not secret: a chip's, which the chip has sealed.
  public func loadKey(_ handle: [UInt8]) throws(EnclaveError) -> EnclaveKey {
    try loadKey(handle.rawSpan)
  }

  /// Nothing: an enclave without chips has all of its keys.
  public func origin(of key: EnclaveKey) throws(EnclaveError) -> [UInt8] {
    guard key.kind == kind else { throw .wrongKind }
    return []
  }

  /// Checks the kind of the key, then the enclave. An enclave that can tell its own keys from others' does
  /// more.
  public func checkReadiness(of key: EnclaveKey) throws(EnclaveError) {
    guard key.kind == kind else { throw .wrongKind }
    try checkReadiness()
  }
}
