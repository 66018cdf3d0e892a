// SPDX-License-Identifier: Apache-2.0
//
// CFB with feedback of a whole block, without resynchronisation (RFC 9580, section 12.9). libcrypto decrypts CFB
// block after block; but the keystream of a block is the encryption of the ciphertext block before it, so all of
// a piece can be had at once from ECB, eight blocks at a time in the processor, and ten times as fast.

internal import COpenSSL
internal import Secrets

/// CFB from an IV, over a stream, in place.
@safe
struct CFBCipher: ~Copyable, @unchecked Sendable {
  enum Direction { case encrypt, decrypt }

  /// Of CFB itself, or of ECB where that is faster.
  private var context: CipherContext
  private var lookahead: Lookahead?

  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - iv: as long as the cipher's block.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher;
  ///   ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of another length.
  init(
    _ algorithm: SymmetricAlgorithm, _ direction: Direction, key: RawSpan, iv: RawSpan
  ) throws(OpenPGPError) {
    let looksAhead = algorithm.isAES && direction == .decrypt
    self.init(
      looksAhead
        ? try CipherContext(try BlockCipher(algorithm, .ecb), encrypts: true, key: key)
        : try CipherContext(
          try BlockCipher(algorithm, .cfb), encrypts: direction == .encrypt, key: key, iv: iv),
      looksAhead: looksAhead, iv: iv)
  }

  private init(_ context: consuming CipherContext, looksAhead: Bool, iv: RawSpan) {
    self.context = context
    lookahead = nil
    if looksAhead { lookahead = Lookahead(iv: iv, &self.context) }
  }

  /// The next bytes of the stream; any number.
  mutating func process(_ buffer: inout MutableRawSpan) {
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress, bytes.count > 0 else { return }
      if lookahead != nil {
        unsafe lookahead!.decrypt(bytes, &context)
      } else {
        unsafe context.run(start, byteCount: bytes.count)
      }
    }
  }
}

/// Decryption of CFB by way of ECB.
@safe
private struct Lookahead: ~Copyable {
  static let blockByteCount = 16
  /// What the keystream is made in: half of the processor's nearest cache, the ciphertext has the other half.
  private static let pieceByteCount = 8 << 10

  /// In memory for secrets: the ciphertext of the block under way, its keystream, and behind that the keystream
  /// of the blocks to come.
  private var memory = SecretBytes(zeroed: 2 * blockByteCount + pieceByteCount)
  /// Bytes of the block under way that have been used; less than a block.
  private var used = 0

  init(iv: RawSpan, _ context: inout CipherContext) {
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        unsafe iv.withUnsafeBytes { iv in
          guard let memory = memory.baseAddress, let iv = iv.baseAddress else { return }
          _ = unsafe context.update(
            iv, byteCount: Self.blockByteCount, to: memory + Self.blockByteCount)
        }
      }
    }
  }

  @unsafe
  mutating func decrypt(_ bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext) {
    var used = used
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        guard let memory = memory.baseAddress else { return }
        unsafe Self.decrypt(bytes, &context, memory, &used)
      }
    }
    self.used = used
  }

  @unsafe
  private static func decrypt(
    _ bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext,
    _ ciphertext: UnsafeMutableRawPointer, _ used: inout Int
  ) {
    let keystream = unsafe ciphertext + blockByteCount
    var offset = 0
    func useOneByte() {
      let byte = unsafe bytes[offset]
      unsafe ciphertext.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
      unsafe bytes[offset] = byte ^ keystream.load(fromByteOffset: used, as: UInt8.self)
      used += 1
      offset += 1
    }
    while used != 0 && offset < bytes.count {
      useOneByte()
      guard used == blockByteCount else { continue }
      _ = unsafe context.update(ciphertext, byteCount: blockByteCount, to: keystream)
      used = 0
    }
    while bytes.count - offset >= blockByteCount {
      let count = min((bytes.count - offset) & -blockByteCount, pieceByteCount)
      let start = unsafe bytes.baseAddress! + offset
      _ = unsafe context.update(start, byteCount: count, to: keystream + blockByteCount)
      unsafe exclusiveOr(start, with: keystream, byteCount: count)
      unsafe keystream.copyMemory(from: keystream + count, byteCount: blockByteCount)
      offset += count
    }
    while offset < bytes.count { useOneByte() }
  }

  /// - Parameter byteCount: whole blocks.
  @unsafe
  private static func exclusiveOr(
    _ bytes: UnsafeMutableRawPointer, with keystream: UnsafeRawPointer, byteCount: Int
  ) {
    typealias Wide = SIMD8<UInt64>
    let wideByteCount = MemoryLayout<Wide>.size
    var offset = 0
    while offset + wideByteCount <= byteCount {
      let mixed =
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Wide.self)
        ^ keystream.loadUnaligned(fromByteOffset: offset, as: Wide.self)
      unsafe bytes.storeBytes(of: mixed, toByteOffset: offset, as: Wide.self)
      offset += wideByteCount
    }
    while offset < byteCount {
      let mixed =
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        ^ keystream.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      unsafe bytes.storeBytes(of: mixed, toByteOffset: offset, as: UInt64.self)
      offset += MemoryLayout<UInt64>.size
    }
  }
}
