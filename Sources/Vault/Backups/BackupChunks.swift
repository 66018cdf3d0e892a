// SPDX-License-Identifier: Apache-2.0
//
// The body of a backup: chunks of 64 KiB, each sealed with AES-256-GCM (Specs/backup.md, "Body"). The nonce is the
// chunk's number and whether it is the last, so chunks that are missing, exchanged or cut off do not open.

internal import Primitives
internal import Secrets

/// Seals and opens the chunks of one backup, in their order.
final class BackupChunks {
  /// Bytes of plaintext in every chunk but the last, which has from 1 to as many.
  static let byteCount = 1 << 16
  static let sealedByteCount = byteCount + AES256GCM.tagByteCount

  private let key: SharedSecretBytes
  private var cipher = AES256GCM()
  private var number: UInt64 = 0

  init(_ key: SharedSecretBytes) { self.key = key }

  /// Encrypts all of `buffer` but its last 16 bytes where they are, and writes the tag there.
  func seal(_ buffer: inout MutableRawSpan, isLast: Bool) {
    let nonce = nextNonce(isLast)
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.sealInPlace(&buffer, key: key, nonce: nonce.rawSpan, authenticating: RawSpan())
      }
    } catch { preconditionFailure("a chunk is never too long") }
  }

  /// Decrypts the next chunk into `output`, 16 bytes shorter.
  /// - Throws: `BackupError.damaged`, and then `output` is erased.
  func open(
    _ sealed: RawSpan, isLast: Bool, into output: inout MutableRawSpan
  ) throws(BackupError) {
    let nonce = nextNonce(isLast)
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.open(
          sealed, key: key, nonce: nonce.rawSpan, authenticating: RawSpan(), into: &output)
      }
    } catch { throw .damaged }
  }

  /// zero (3) ‖ number (8) ‖ 1 for the last (1)
  private func nextNonce(_ isLast: Bool) -> [UInt8] {
    var nonce: [UInt8] = [0, 0, 0]
    nonce.append(bigEndian: number)
    number += 1
    return nonce + [isLast ? 1 : 0]
  }
}
