// SPDX-License-Identifier: Apache-2.0
//
// CFB with feedback of a whole block, without resynchronisation (RFC 9580, section 12.9). libcrypto works through
// CFB block after block in a slow loop, but other modes give the same keystream, in which a block is the
// encryption of the ciphertext block before it. Decryption knows all of these at once, so ECB encrypts them eight
// at a time, ten times as fast. Encryption has to wait for each; but that is what CBC does too: with keystream
// O(i) = E(C(i-1)) and C(i) = P(i) ^ O(i), O(i+1) = E(P(i) ^ O(i)) is CBC over the plaintext, and libcrypto's CBC
// takes two thirds of the time of its CFB.

internal import COpenSSL
internal import Secrets

/// CFB from an IV, over a stream, in place.
@safe
struct CFBCipher: ~Copyable, @unchecked Sendable {
  enum Direction { case encrypt, decrypt }

  /// Of CFB itself, or of the mode that gives the keystream faster.
  private var context: CipherContext
  private var keystream: Keystream?

  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - iv: as long as the cipher's block.
  /// - Throws: ``OpenPGPError/unsupported(_:)`` when libcrypto does not have the cipher;
  ///   ``OpenPGPError/malformed(_:)`` with `sessionKey` for a key of another length.
  init(
    _ algorithm: SymmetricAlgorithm, _ direction: Direction, key: RawSpan, iv: RawSpan
  ) throws(OpenPGPError) {
    guard algorithm.isAES else {
      let mode = try BlockCipher(algorithm, .cfb)
      self.init(try CipherContext(mode, encrypts: direction == .encrypt, key: key, iv: iv))
      return
    }
    let zeros = [UInt8](repeating: 0, count: Keystream.blockByteCount)
    let context =
      direction == .decrypt
      ? try CipherContext(try BlockCipher(algorithm, .ecb), encrypts: true, key: key)
      : try CipherContext(
        try BlockCipher(algorithm, .cbc), encrypts: true, key: key, iv: unsafe zeros.span.bytes)
    self.init(context)
    keystream = Keystream(iv: iv, &self.context)
  }

  private init(_ context: consuming CipherContext) {
    self.context = context
    keystream = nil
  }

  /// The next bytes of the stream; any number.
  mutating func process(_ buffer: inout MutableRawSpan) {
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress, bytes.count > 0 else { return }
      if keystream != nil {
        unsafe keystream!.apply(to: bytes, &context)
      } else {
        unsafe context.run(start, byteCount: bytes.count)
      }
    }
  }
}

/// CFB by way of a mode that makes the next keystream from what comes in: from ciphertext by ECB, from plaintext
/// by CBC.
@safe
private struct Keystream: ~Copyable {
  static let blockByteCount = 16
  /// What the keystream is made in: half of the processor's nearest cache, what comes in has the other half.
  private static let pieceByteCount = 8 << 10

  /// In memory for secrets: what came in of the block under way, its keystream, and behind that the keystream of
  /// the blocks to come.
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
  mutating func apply(to bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext) {
    var used = used
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        guard let memory = memory.baseAddress else { return }
        unsafe Self.apply(to: bytes, &context, memory, &used)
      }
    }
    self.used = used
  }

  @unsafe
  private static func apply(
    to bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext,
    _ input: UnsafeMutableRawPointer, _ used: inout Int
  ) {
    let keystream = unsafe input + blockByteCount
    var offset = 0
    func useOneByte() {
      let byte = unsafe bytes[offset]
      unsafe input.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
      unsafe bytes[offset] = byte ^ keystream.load(fromByteOffset: used, as: UInt8.self)
      used += 1
      offset += 1
    }
    while used != 0 && offset < bytes.count {
      useOneByte()
      guard used == blockByteCount else { continue }
      _ = unsafe context.update(input, byteCount: blockByteCount, to: keystream)
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
