// SPDX-License-Identifier: Apache-2.0
//
// How a software key's passcode becomes the key of its sealed value (Specs/enclaves.md, "Body of a software
// handle"). Label of that page: "coffer enclave v1 random passcode".

internal import Primitives
internal import Secrets

/// The numbers are stored.
enum PasscodeDerivation: UInt8 {
  /// For a key without a passcode.
  case none = 0
  /// A typed passcode is stretched: nothing else slows down guessing.
  case argon2id = 1
  /// 32 random bytes need no stretching.
  case hkdf = 2

  init(_ passcode: KeyEnrolment.Passcode?) {
    self =
      switch passcode {
      case nil: .none
      case .typed: .argon2id
      case .random: .hkdf
      }
  }

  /// The key of 32 bytes.
  /// - Throws: `EnclaveError.unavailable` without the memory for Argon2id; `.wrongPasscode` for a random
  ///   passcode of another length.
  func key(_ passcode: SharedSecretBytes, salt: [UInt8]) throws(EnclaveError) -> SecretBytes {
    var key = SecretBytes(zeroed: SymmetricKey.byteCount)
    switch self {
    case .none: throw .authorizationRequired
    case .argon2id:
      do {
        try key.withMutableBytes { key throws(Argon2idError) in
          try passcode.withBytes { passcode throws(Argon2idError) in
            try Argon2id.derive(
              password: passcode, salt: salt.rawSpan, parameters: .recommended, into: &key)
          }
        }
      } catch {
        // No memory for the derivation: nothing was tried.
        throw .unavailable
      }
    case .hkdf:
      guard passcode.count == KeyEnrolment.Passcode.randomByteCount else { throw .wrongPasscode }
      var hkdf = HKDF()
      let info: StaticString = "coffer enclave v1 random passcode"
      key.withMutableBytes { key in
        passcode.withBytes { passcode in
          info.withRawSpan { hkdf.derive(ikm: passcode, salt: salt.rawSpan, info: $0, into: &key) }
        }
      }
    }
    return key
  }
}
