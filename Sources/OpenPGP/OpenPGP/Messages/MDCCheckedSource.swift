// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.1: hashes the plaintext of a message of version 1 as it passes, and compares the
// modification detection code at the end. A wrong prefix and a wrong code are one error, at one moment, so that
// nobody learns from the difference.

internal import Primitives
internal import Secrets

/// The plaintext of a message of version 1; its end comes only when the code is right.
final class MDCCheckedSource: ByteSource {
  private let work: SEIPDv1Decryptor
  private let pipeline: BatchPipeline
  private var hash = HashContext(.sha1)
  private var hasBegun = false
  private var isChecked = false
  private let checks: Bool

  /// - Parameters:
  ///   - byteCount: of the ciphertext, where that is known: a short message needs little memory.
  ///   - checks: false for a second reading, when what is read has been recognised already.
  init(_ work: SEIPDv1Decryptor, byteCount: Int?, checks: Bool) {
    self.work = work
    self.checks = checks
    pipeline = BatchPipeline(
      work, batchByteCount: BatchPipeline.room(Self.batchByteCount, forStreamOf: byteCount))
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    if try pipeline.isAtEnd(), checks, !isChecked {
      try check()
      isChecked = true
    }
    return try pipeline.withNext(body)
  }

  func consume(_ count: Int) {
    if checks { hashNext(count) }
    pipeline.consume(count)
  }

  private func hashNext(_ count: Int) {
    begin()
    // What has been lent can be lent again.
    try? pipeline.withNext { (next) throws(OpenPGPError) in hash.update(next.extracting(0..<count)) }
  }

  private func begin() {
    if !hasBegun { hash.update(work.prefix) }
    hasBegun = true
  }

  private func check() throws(OpenPGPError) {
    begin()
    let expected = SEIPDv1Prefix.mdcHeader + SEIPDv1Prefix.digest(hash)
    let code = work.code
    let isSame = unsafe constantTimeEqual(expected.span.bytes, code.span.bytes)
    guard isSame, SEIPDv1Prefix.isRepeated(work.prefix) else { throw .notAuthentic }
  }

  /// Small enough that a batch stays in the processor's cache between decryption and hashing.
  private static let batchByteCount = 256 << 10
}
