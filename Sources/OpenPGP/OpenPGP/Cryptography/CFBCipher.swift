// SPDX-License-Identifier: Apache-2.0
//
// CFB with feedback of a whole block, without resynchronisation (RFC 9580, section 12.9). libcrypto has it one
// block at a time; the same octets come faster from modes that it has in assembly:
//
// - Decrypting, the keystream of a block is E(C), with C the block of ciphertext before it. All of a piece is
//   there already, so ECB makes the keystream of many blocks at once: ten times as fast.
// - Encrypting, it is E(P xor K), with P the block of plaintext before it and K that block's keystream: which is
//   CBC over the plaintext. One block has to wait for the one before, but not for a call: half as fast again.

internal import COpenSSL
internal import Secrets

/// CFB from an IV, over a stream, in place.
@safe
struct CFBCipher: ~Copyable, @unchecked Sendable {
  enum Direction { case encrypt, decrypt }

  /// Of CFB itself, or of the mode that makes the keystream.
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
    guard let blockByteCount = algorithm.blockByteCount else {
      throw .unsupported(.symmetricAlgorithm(algorithm.rawValue))
    }
    precondition(iv.byteCount == blockByteCount, "an IV is as long as the cipher's block")
    guard algorithm.isAES else {
      let cipher = try BlockCipher(algorithm, .cfb)
      self.init(try CipherContext(cipher, encrypts: direction == .encrypt, key: key, iv: iv))
      return
    }
    switch direction {
    case .encrypt:
      unsafe self.init(
        try CipherContext(try BlockCipher(algorithm, .cbc), encrypts: true, key: key, iv: iv),
        first: [UInt8](repeating: 0, count: Keystream.blockByteCount).span.bytes)
    case .decrypt:
      self.init(
        try CipherContext(try BlockCipher(algorithm, .ecb), encrypts: true, key: key), first: iv)
    }
  }

  private init(_ context: consuming CipherContext) {
    self.context = context
    keystream = nil
  }

  /// - Parameter first: what the keystream of the first block is made of.
  private init(_ context: consuming CipherContext, first: RawSpan) {
    self.context = context
    keystream = nil
    keystream = Keystream(first: first, &self.context)
  }

  /// The next bytes of the stream; any number.
  mutating func process(_ buffer: inout MutableRawSpan) {
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress, bytes.count > 0 else { return }
      if keystream != nil {
        unsafe keystream!.use(on: bytes, &context)
      } else {
        unsafe context.run(start, byteCount: bytes.count)
      }
    }
  }
}

/// The keystream of CFB, made of what goes into the stream: ciphertext by ECB, plaintext by CBC.
@safe
private struct Keystream: ~Copyable {
  static let blockByteCount = 16
  /// What the keystream is made in: half of the processor's nearest cache, the data have the other half.
  private static let pieceByteCount = 8 << 10

  /// In memory for secrets: what went into the block under way, the block's keystream, and behind that the
  /// keystream of the blocks to come.
  private var memory = SecretBytes(zeroed: 2 * blockByteCount + pieceByteCount)
  /// Bytes of the block under way that have been used; less than a block.
  private var used = 0

  init(first: RawSpan, _ context: inout CipherContext) {
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        unsafe first.withUnsafeBytes { first in
          guard let memory = memory.baseAddress, let first = first.baseAddress else { return }
          _ = unsafe context.update(
            first, byteCount: Self.blockByteCount, to: memory + Self.blockByteCount)
        }
      }
    }
  }

  @unsafe
  mutating func use(on bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext) {
    var used = used
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        guard let memory = memory.baseAddress else { return }
        unsafe Self.use(on: bytes, &context, memory, &used)
      }
    }
    self.used = used
  }

  @unsafe
  private static func use(
    on bytes: UnsafeMutableRawBufferPointer, _ context: inout CipherContext,
    _ block: UnsafeMutableRawPointer, _ used: inout Int
  ) {
    let keystream = unsafe block + blockByteCount
    var offset = 0
    func useOneByte() {
      let byte = unsafe bytes[offset]
      unsafe block.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
      unsafe bytes[offset] = byte ^ keystream.load(fromByteOffset: used, as: UInt8.self)
      used += 1
      offset += 1
    }
    while used != 0 && offset < bytes.count {
      useOneByte()
      guard used == blockByteCount else { continue }
      _ = unsafe context.update(block, byteCount: blockByteCount, to: keystream)
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
    // Words, which the compiler joins into vectors: written as vectors, they would be left on the stack.
    var offset = 0
    while offset < byteCount {
      let mixed =
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        ^ keystream.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      unsafe bytes.storeBytes(of: mixed, toByteOffset: offset, as: UInt64.self)
      offset += MemoryLayout<UInt64>.size
    }
  }
}
