// SPDX-License-Identifier: Apache-2.0
//
// From a passphrase or words to the secret of an account slot. A passphrase alone does not suffice: the secret of the
// account's URL goes in too, so that the server cannot try passphrases.

public import Primitives
public import Secrets

/// How the secret of an account slot is derived; the numbers `kdf` of an account slot are its own.
public enum AccountSlotDerivation: Hashable, Sendable {
  /// `kdf` 1: Argon2id of a passphrase, and the URL's secret.
  case passphrase(memoryKiB: UInt32, passes: UInt32, lanes: UInt32)
  /// `kdf` 2: the seed of words, which needs no stretching.
  case words

  /// A passphrase with these costs.
  public static func passphrase(_ costs: Argon2idParameters) -> Self {
    .passphrase(
      memoryKiB: UInt32(costs.memoryKiB), passes: UInt32(costs.passes), lanes: UInt32(costs.lanes))
  }
}

/// The secrets of account slots.
public enum AccountSlotSecret {
  /// Bytes of a secret.
  public static let byteCount = 32
  /// Bytes of a salt.
  public static let saltByteCount = 32

  /// The secret of a passphrase: HKDF(Argon2id(passphrase, salt) ‖ URL secret, salt, label).
  /// - Parameters:
  ///   - passphrase: its UTF-8 in Normalization Form C.
  ///   - urlSecret: 16 bytes.
  ///   - salt: 32 bytes, of the slot.
  ///   - costs: of the slot.
  ///   - memory: what may be used.
  public static func passphrase(
    _ passphrase: RawSpan, urlSecret: SharedSecretBytes, salt: [UInt8], costs: Argon2idParameters,
    memory: MemoryGuard = .current()
  ) throws(Argon2idError) -> SharedSecretBytes {
    precondition(salt.count == saltByteCount, "a slot's salt has 32 bytes")
    precondition(urlSecret.count == Envelope.urlSecretByteCount, "the secret of a URL has 16 bytes")
    var stretched = SecretBytes(zeroed: byteCount)
    try stretched.withMutableBytes { stretched throws(Argon2idError) in
      try Argon2id.derive(
        password: passphrase, salt: salt.rawSpan, parameters: costs, memory: memory, into: &stretched)
    }
    var input = SecretWriter(byteCount: byteCount + urlSecret.count)
    stretched.withBytes { input.append($0) }
    input.append(urlSecret)
    return derive(input.finish(), salt, "coffer account slot v1 passphrase")
  }

  /// The secret of words: HKDF(seed, salt, label).
  /// - Parameters:
  ///   - seed: of the words (BIP-39).
  ///   - salt: 32 bytes, of the slot.
  public static func words(seed: borrowing SecretBytes, salt: [UInt8]) -> SharedSecretBytes {
    precondition(salt.count == saltByteCount, "a slot's salt has 32 bytes")
    return derive(seed, salt, "coffer account slot v1 words")
  }

  private static func derive(
    _ input: borrowing SecretBytes, _ salt: [UInt8], _ label: StaticString
  ) -> SharedSecretBytes {
    var hkdf = HKDF()
    return SharedSecretBytes(
      SecretBytes(byteCount: byteCount) { output in
        input.withBytes { input in
          label.withRawSpan { hkdf.derive(ikm: input, salt: salt.rawSpan, info: $0, into: &output) }
        }
      })
  }
}
