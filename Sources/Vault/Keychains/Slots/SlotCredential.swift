// SPDX-License-Identifier: Apache-2.0
//
// The secret that opens a slot, before and after its derivation.

internal import Primitives
package import Secrets

/// The secret that opens a slot, before its derivation: a passphrase, a seed, or a secret agreed with a
/// device.
public struct SlotCredential: ~Copyable, Sendable {
  /// The kind of slots that it may open.
  public let kind: SlotKind
  private let input: SecretBytes
  /// What the attachment of a new slot has after its label.
  let details: [UInt8]

  /// A credential of a method with this input.
  init(_ method: any SlotMethod.Type, input: consuming SecretBytes, details: [UInt8] = []) {
    kind = method.kind
    self.details = details
    self.input = input
  }

  /// The slot's secret, 32 bytes.
  package borrowing func secret(_ kdf: SlotKDF, salt: [UInt8]) throws(KeybagError) -> SecretBytes {
    var secret = SecretBytes(zeroed: SymmetricKey.byteCount)
    do {
      try secret.withMutableBytes { secret throws(Argon2idError) in
        try input.withBytes { input throws(Argon2idError) in
          switch kdf {
          case .pbkdf2(let iterations):
            do {
              try PBKDF2.hmacSHA256(
                password: input, salt: salt.rawSpan, rounds: iterations, into: &secret)
            } catch { throw Argon2idError.parameters }
          case .argon2id(let parameters):
            try Argon2id.derive(
              password: input, salt: salt.rawSpan, parameters: parameters, into: &secret)
          case .expansion(let expansion):
            var hkdf = HKDF()
            expansion.info.withRawSpan {
              hkdf.derive(ikm: input, salt: salt.rawSpan, info: $0, into: &secret)
            }
          }
        }
      }
    } catch {
      throw .derivation(error)
    }
    return secret
  }
}
