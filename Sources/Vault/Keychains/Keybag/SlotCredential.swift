// SPDX-License-Identifier: Apache-2.0
//
// What is offered to open a slot, and the slot's secret that is derived from it.

internal import Primitives
public import Secrets

/// A passphrase, a recovery phrase, or what a chip has agreed on.
public struct SlotCredential: ~Copyable, Sendable {
  public let kind: SlotKind
  private let input: SecretBytes
  /// What a new slot keeps beside the wrapped keys.
  let attachment: [UInt8]

  /// The bytes of a passphrase, as they enter the key derivation: UTF-8, NFC.
  public init(_ passphrase: borrowing Passphrase) {
    kind = .passphrase
    attachment = []
    input = passphrase.withBytes { SecretBytes(copying: $0) }
  }

  /// The seed of a recovery phrase.
  public init(_ phrase: borrowing RecoveryPhrase) {
    kind = .recoveryPhrase
    attachment = []
    input = phrase.seed()
  }

  /// What a key agreement between a chip and an ephemeral key gave: 32 bytes.
  init(agreed secret: consuming SecretBytes, attachment: EnclaveAttachment) {
    kind = .enclave
    self.attachment = attachment.bytes
    input = secret
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
              unsafe try PBKDF2.hmacSHA256(
                password: input, salt: salt.span.bytes, rounds: iterations, into: &secret)
            } catch { throw Argon2idError.parameters }
          case .argon2id(let parameters):
            unsafe try Argon2id.derive(
              password: input, salt: salt.span.bytes, parameters: parameters, into: &secret)
          case .seed, .agreement:
            var hkdf = HKDF()
            let info: StaticString =
              kdf == .seed ? "coffer keybag v1 seed" : "coffer keybag v1 agreement"
            info.withRawSpan {
              unsafe hkdf.derive(ikm: input, salt: salt.span.bytes, info: $0, into: &secret)
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
