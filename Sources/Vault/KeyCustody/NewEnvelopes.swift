// SPDX-License-Identifier: Apache-2.0
//
// The envelopes of one change: each private key sealed to a new key in the enclave, and a proof of what was
// sealed, so that it can be compared with what the store gives back. A key that was in hardware stays in hardware.

internal import Enclaves
internal import OpenPGP
internal import Primitives
internal import ProtectedData
internal import Secrets

struct NewEnvelopes: ~Copyable {
  let mode: AuthenticationMode
  private(set) var envelopes: [PrivateKeyEnvelope] = []
  /// The metadata that the keys have once the change is made.
  private(set) var identities: [PGPKeyIdentity] = []
  private let enclave: any Enclave
  /// The kinds of the envelopes that are there before the change.
  private let formerKind: (Fingerprint) -> EnclaveKind?
  private let enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  private let enrolment: KeyEnrolment
  /// What the mode's envelopes take beside the enclave; nil for a mode without a guard record.
  private let openGuard: OpenGuard?
  /// HMAC-SHA256 of each private key, under a key that ends with the change.
  private var proofs: [Fingerprint: [UInt8]] = [:]
  private let proofKey = SystemRandom.secretBytes(count: SymmetricKey.byteCount)

  init(
    _ mode: AuthenticationMode, in enclave: any Enclave, _ enrolment: KeyEnrolment, _ openGuard: OpenGuard?,
    formerKind: @escaping (Fingerprint) -> EnclaveKind?,
    enclaveOfKind: @escaping (EnclaveKind) -> (any Enclave)?
  ) {
    self.mode = mode
    self.enclave = enclave
    self.formerKind = formerKind
    self.enclaveOfKind = enclaveOfKind
    self.enrolment = enrolment
    self.openGuard = openGuard
  }

  /// Seals a private key to a new key of the enclave.
  /// - Throws: `CustodyError.enclave`; `.invalidInput`, also for a second key of that fingerprint.
  mutating func seal(
    _ secret: RawSpan, _ payload: PrivateKeyPayload, _ fingerprint: Fingerprint
  ) throws(CustodyError) {
    guard proofs[fingerprint] == nil else { throw .invalidInput }
    let enclave = try self.enclave(for: fingerprint)
    let key: EnclaveKey
    do { key = try enclave.createKey(use: .agreement, access: mode.access, enrolment: enrolment) } catch {
      throw .enclave(error)
    }
    envelopes.append(try PrivateKeyEnvelope.seal(secret, payload, fingerprint, to: key, guard: openGuard))
    proofs[fingerprint] = proof(secret)
  }

  /// Where the new envelope of a key is made: never in software what was in hardware.
  private func enclave(for fingerprint: Fingerprint) throws(CustodyError) -> any Enclave {
    guard !enclave.kind.isHardware, let former = formerKind(fingerprint), former.isHardware else {
      return enclave
    }
    guard let chip = enclaveOfKind(former) else { throw .enclave(.unavailable) }
    return chip
  }

  /// The same, with the metadata of the key.
  mutating func seal(_ key: ListedPrivateKey) throws {
    try key.secret.withBytes { try seal($0, key.payload, key.identity.fingerprint) }
    identities.append(key.identity)
  }

  /// Whether this is the private key that was sealed under the fingerprint.
  func isWhatWasSealed(_ secret: borrowing SecretBytes, _ fingerprint: Fingerprint) -> Bool {
    guard let expected = proofs[fingerprint] else { return false }
    let found = secret.withBytes { proof($0) }
    return constantTimeEqual(found.rawSpan, expected.rawSpan)
  }

  private func proof(_ secret: RawSpan) -> [UInt8] {
    proofKey.withBytes { HMACSHA256.code(of: secret, key: $0) }
  }
}
