// SPDX-License-Identifier: Apache-2.0
//
// A chip for guards, in this process: thousands of crashes would each ask a real one, which this process, whose calls
// are taken over, cannot reach. It counts no wrong PINs.

import Enclaves
import Primitives
import Secrets

struct StandInChip: Enclave {
  let kind = EnclaveKind.tpm
  private let software = SoftwareEnclave()

  func checkAvailability() throws(EnclaveError) {}
  func checkReadiness() throws(EnclaveError) {}

  func createKey(
    use: EnclaveKeyUse, access: AccessControl, enrolment: KeyEnrolment
  ) throws(EnclaveError) -> EnclaveKey {
    var enrolment = enrolment
    // Not stretched, because nobody guesses.
    if case .typed(let pin) = enrolment.passcode { enrolment.passcode = .random(Self.hashed(pin)) }
    let key = try software.createKey(use: use, access: access, enrolment: enrolment)
    return try Self.key(key, as: .tpm)
  }

  func loadKey(_ handle: RawSpan) throws(EnclaveError) -> EnclaveKey {
    guard let key = EnclaveKey(handle: handle) else { throw .corrupt }
    return key
  }

  func deleteKey(_ key: EnclaveKey) throws(EnclaveError) {}

  func sharedSecret(
    _ key: EnclaveKey, with publicKey: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> SecretBytes {
    guard case .passcode(let pin) = authorization else { throw .authorizationRequired }
    return try software.sharedSecret(
      Self.key(key, as: .software), with: publicKey, authorization: .passcode(Self.hashed(pin)))
  }

  func signature(
    _ key: EnclaveKey, digest: [UInt8], authorization: KeyAuthorization
  ) throws(EnclaveError) -> [UInt8] { throw .invalidInput }

  private static func hashed(_ pin: SharedSecretBytes) -> SharedSecretBytes {
    let digest = pin.withBytes { SHA256.hash($0) }
    return SharedSecretBytes(SecretBytes(copying: digest.span.bytes))
  }

  /// The same key with a handle of another kind (Specs/enclaves.md): "COFENC01" ‖ kind ‖ … ‖ digest.
  private static func key(_ key: EnclaveKey, as kind: EnclaveKind) throws(EnclaveError) -> EnclaveKey {
    var bytes = Array(key.dataRepresentation.dropLast(SHA256.byteCount))
    bytes[8] = kind.rawValue
    bytes += SHA256.hash(bytes.span.bytes)
    guard let key = EnclaveKey(handle: bytes.span.bytes) else { throw .corrupt }
    return key
  }
}
