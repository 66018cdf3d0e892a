// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 9.6: EAX, OCB (RFC 7253) and GCM (SP 800-38D), all with tags of 16 octets. One context
// serves many messages with one key: the key is set once, the nonce for each.

internal import CSystem
internal import Secrets

/// OCB, GCM or EAX with one key for many nonces.
struct AEADCipher: ~Copyable, @unchecked Sendable {
  enum Direction { case seal, open }

  /// Of the mode itself, or of the counter mode in EAX.
  private var context: CipherContext
  private let eax: EAXTags?
  private let direction: Direction
  private let nonceByteCount: Int

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a cipher that libcrypto does not have in this mode: it has
  ///   AES in all three, and Camellia in EAX. ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of
  ///   another length than the cipher's.
  init(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan
  ) throws(OpenPGPError) {
    guard let nonceByteCount = algorithm.nonceByteCount else {
      throw .unsupported(.aeadAlgorithm(algorithm.rawValue))
    }
    try self.init(cipher, algorithm, direction, key: key, nonceByteCount: nonceByteCount)
  }

  /// - Parameter nonceByteCount: another length than the standard's, for published vectors.
  init(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan,
    nonceByteCount: Int
  ) throws(OpenPGPError) {
    // No mode of AEAD is defined for blocks of eight octets.
    guard cipher.blockByteCount == 16 else { throw .unsupported(.symmetricAlgorithm(cipher.rawValue)) }
    let eax = algorithm == .eax ? try EAXTags(cipher, key: key) : nil
    self.init(
      try Self.context(cipher, algorithm, direction, key: key, nonceByteCount: nonceByteCount),
      eax: eax, direction, nonceByteCount: nonceByteCount)
  }

  private init(
    _ context: consuming CipherContext, eax: EAXTags?, _ direction: Direction, nonceByteCount: Int
  ) {
    self.context = context
    self.eax = eax
    self.direction = direction
    self.nonceByteCount = nonceByteCount
  }

  private static func context(
    _ cipher: SymmetricAlgorithm, _ algorithm: AEADAlgorithm, _ direction: Direction, key: RawSpan,
    nonceByteCount: Int
  ) throws(OpenPGPError) -> CipherContext {
    switch algorithm {
    case .eax: return try CipherContext(try BlockCipher(cipher, .counter), encrypts: true, key: key)
    case .ocb, .gcm:
      return try CipherContext(
        try BlockCipher(cipher, algorithm == .ocb ? .ocb : .gcm), encrypts: direction == .seal, key: key,
        nonceByteCount: nonceByteCount)
    default: throw .unsupported(.aeadAlgorithm(algorithm.rawValue))
    }
  }

  /// Encrypts all but the last 16 bytes of `buffer` in place and writes the tag there.
  /// - Parameter nonce: never used before with this key.
  mutating func seal(_ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan) {
    precondition(direction == .seal, "this cipher opens")
    precondition(nonce.byteCount == nonceByteCount, "a nonce is as long as its algorithm says")
    let count = buffer.byteCount - AEADAlgorithm.tagByteCount
    precondition(count >= 0, "no room for the tag")
    unsafe buffer.withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      if let eax {
        let head = eax.head(nonce: nonce, data: data)
        context.restart(nonce: unsafe head.counter.span.bytes)
        unsafe context.run(start, byteCount: count)
        unsafe eax.tag(head, ciphertext: UnsafeRawBufferPointer(start: start, count: count))
          .withUnsafeBytes { unsafe (start + count).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      } else {
        context.restart(nonce: nonce)
        context.authenticate(data)
        let written = unsafe context.run(start, byteCount: count)
        precondition(unsafe context.finish(to: start + written), "encryption cannot fail")
        unsafe context.writeTag(to: start + count)
      }
    }
  }

  /// Decrypts all but the last 16 bytes of `buffer`, the tag, in place; erases it when they do not match.
  /// - Throws: ``OpenPGPError/notAuthentic``, also for fewer bytes than a tag.
  mutating func open(
    _ buffer: inout MutableRawSpan, nonce: RawSpan, authenticating data: RawSpan
  ) throws(OpenPGPError) {
    precondition(direction == .open, "this cipher seals")
    precondition(nonce.byteCount == nonceByteCount, "a nonce is as long as its algorithm says")
    let count = buffer.byteCount - AEADAlgorithm.tagByteCount
    guard count >= 0 else { throw .notAuthentic }
    let isAuthentic = unsafe buffer.withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { return false }
      let isAuthentic = unsafe open(start, byteCount: count, nonce: nonce, authenticating: data)
      if !isAuthentic { unsafe coffer_erase(start, buffer.count) }
      return isAuthentic
    }
    guard isAuthentic else { throw .notAuthentic }
  }

  @unsafe
  private mutating func open(
    _ start: UnsafeMutableRawPointer, byteCount: Int, nonce: RawSpan, authenticating data: RawSpan
  ) -> Bool {
    guard let eax else {
      context.restart(nonce: nonce)
      context.authenticate(data)
      unsafe context.expectTag(start + byteCount)
      let written = unsafe context.run(start, byteCount: byteCount)
      return unsafe context.finish(to: start + written)
    }
    let head = eax.head(nonce: nonce, data: data)
    let ciphertext = unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
    let mine = unsafe eax.tag(head, ciphertext: ciphertext)
    let theirs = unsafe RawSpan(_unsafeStart: start + byteCount, byteCount: AEADAlgorithm.tagByteCount)
    guard unsafe constantTimeEqual(mine.span.bytes, theirs) else { return false }
    unsafe context.restart(nonce: head.counter.span.bytes)
    unsafe context.run(start, byteCount: byteCount)
    return true
  }
}
