// SPDX-License-Identifier: Apache-2.0
//
// The key that represents a recognised finger (Specs/envelopes.md, "Items"). Enclaves enrol its public half;
// it signs their challenges while an authenticated context says that a finger was recognised. On Linux a
// service of the system compares the finger, so this only restrains this program; the Secure Enclave checks
// fingers itself.

internal import Enclaves
internal import Foundation
internal import Primitives
internal import Secrets

/// scalar (32) ‖ public key (65)
struct FingerKey {
  static let account = "com.cypherair.v1.finger-key"

  let publicKey: [UInt8]
  private let stored: SharedSecretBytes

  /// The item of a new key.
  static func generate() -> SharedSecretBytes {
    let key = P256PrivateKey()
    let scalar = key.scalar()
    let byteCount = P256.scalarByteCount + P256.publicKeyByteCount
    return SharedSecretBytes(
      SecretBytes(byteCount: byteCount) { bytes in
        scalar.withBytes { bytes.copy($0, to: 0) }
        bytes.copy(key.publicKey.rawSpan, to: P256.scalarByteCount)
      })
  }

  /// - Throws: `CustodyError.corrupt` when the item is gone or invalid: every coffer has it.
  init(_ stored: SharedSecretBytes?) throws(CustodyError) {
    guard let stored, stored.count == P256.scalarByteCount + P256.publicKeyByteCount else { throw .corrupt }
    self.stored = stored
    publicKey = stored.withBytes { [UInt8](copying: $0.extracting(droppingFirst: P256.scalarByteCount)) }
    guard P256.isPublicKey(publicKey) else { throw .corrupt }
  }

  /// Signs until the deadline.
  func verifier(until deadline: ContinuousClock.Instant) throws(CustodyError) -> FingerVerifier {
    let scalar = stored.withBytes { SecretBytes(copying: $0.extracting(first: P256.scalarByteCount)) }
    do {
      return FingerVerifier(try P256PrivateKey(scalar: scalar, publicKey: publicKey), deadline: deadline)
    } catch { throw .corrupt }
  }
}

/// Signs for a finger that was recognised a moment ago.
final class FingerVerifier: BiometryVerifier {
  let publicKey: [UInt8]
  private let key: P256PrivateKey
  private let deadline: ContinuousClock.Instant

  init(_ key: consuming P256PrivateKey, deadline: ContinuousClock.Instant) {
    publicKey = key.publicKey
    self.key = key
    self.deadline = deadline
  }

  func sign(digest: [UInt8]) throws(EnclaveError) -> [UInt8] {
    guard ContinuousClock.now < deadline else { throw .biometryRefused }
    do { return try key.signature(digest: digest) } catch { throw .invalidInput }
  }
}
