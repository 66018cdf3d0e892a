// SPDX-License-Identifier: Apache-2.0

extension SecretKeyProtection {
  /// How keys are protected when they are written.
  public enum Profile: Sendable {
    /// AES-256 in CFB, iterated and salted S2K with SHA-256, the highest count: what GnuPG reads.
    case universal
    /// AES-256 in OCB, Argon2id with 2^19 KiB, 4 lanes, 3 passes (PG-15).
    case advanced
  }
}
