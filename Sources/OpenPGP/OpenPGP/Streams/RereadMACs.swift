// SPDX-License-Identifier: Apache-2.0
//
// Recognises bytes that were seen before: AES-256-GCM without plaintext, under a key that nobody knows, with
// the place as nonce. 16 bytes a piece are remembered: 64 bytes of every MiB.

internal import Primitives
internal import Secrets

/// The authentication tags of the pieces of an input, in order.
struct RereadMACs: ~Copyable {
  private var cipher = AES256GCM()
  private let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
  private var tags: [UInt8] = []

  /// Pieces that were seen.
  var count: Int { tags.count / AES256GCM.tagByteCount }

  /// Remembers the next piece.
  mutating func append(_ piece: RawSpan) { tags += tag(of: piece, number: count) }

  /// Whether piece `number` is what it was.
  mutating func matches(_ piece: RawSpan, number: Int) -> Bool {
    let start = number * AES256GCM.tagByteCount
    let seen = Array(tags[start..<start + AES256GCM.tagByteCount])
    let found = tag(of: piece, number: number)
    return unsafe constantTimeEqual(seen.span.bytes, found.span.bytes)
  }

  private mutating func tag(of piece: RawSpan, number: Int) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount - 8)
    nonce.append(bigEndian: UInt64(number))
    var output = [UInt8](repeating: 0, count: AES256GCM.tagByteCount)
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    do {
      try key.withBytes { (key) throws(CryptoError) in
        try cipher.sealInPlace(&bytes, key: key, nonce: unsafe nonce.span.bytes, authenticating: piece)
      }
    } catch {
      preconditionFailure("a piece is shorter than the cipher's limit")
    }
    return output
  }
}
