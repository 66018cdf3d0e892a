// SPDX-License-Identifier: Apache-2.0
//
// CFB with feedback of a whole block (SP 800-38A, section 6.3). libcrypto computes it one block at a time;
// modes that it has in assembly give the same octets faster:
//
// - To decrypt, the keystream of a block is E(C), with C the ciphertext block before it. All ciphertext of a
//   piece is known, so ECB computes the keystream of many blocks at once: ten times as fast.
// - To encrypt, it is E(P xor K), with P the plaintext block before it and K that block's keystream, which is
//   CBC over the plaintext. Each block waits for the one before, but not for a function call: 1.5 times as
//   fast.

internal import Secrets

/// CFB from an IV, over a stream, in place.
package struct CFBStream: ~Copyable, Sendable {
  package enum Direction: Sendable { case encrypt, decrypt }

  /// The context of CFB itself, or of the mode that computes the keystream.
  private var context: CipherContext
  private var keystream: Keystream?

  /// nil when libcrypto does not have the cipher.
  /// - Parameters:
  ///   - key: as long as the cipher wants it.
  ///   - iv: as long as the cipher's block.
  package init?(_ algorithm: BlockCipher.Algorithm, _ direction: Direction, key: RawSpan, iv: RawSpan) {
    let mode: BlockCipher.Mode = !algorithm.isAES ? .cfb : direction == .encrypt ? .cbc : .ecb
    guard let cipher = BlockCipher(algorithm, mode) else { return nil }
    switch mode {
    case .cbc:
      guard let context = CipherContext(cipher, encrypts: true, key: key, iv: iv) else { return nil }
      let zeros = InlineArray<16, UInt8>(repeating: 0)
      self.init(context, first: zeros.rawSpan)
    case .ecb:
      guard let context = CipherContext(cipher, encrypts: true, key: key) else { return nil }
      self.init(context, first: iv)
    default:
      guard let context = CipherContext(cipher, encrypts: direction == .encrypt, key: key, iv: iv) else {
        return nil
      }
      self.init(context)
    }
  }

  private init(_ context: consuming CipherContext) {
    self.context = context
    keystream = nil
  }

  /// - Parameter first: the input of the first block of keystream.
  private init(_ context: consuming CipherContext, first: RawSpan) {
    precondition(first.byteCount == Keystream.blockByteCount, "an IV is as long as the cipher's block")
    self.context = context
    keystream = nil
    keystream = Keystream(first: first, &self.context)
  }

  /// The next bytes of the stream; any number.
  package mutating func process(_ bytes: inout MutableRawSpan) {
    guard keystream != nil else { return context.updateInPlace(&bytes) }
    unsafe bytes.withUnsafeMutableBytes { unsafe keystream!.use(on: $0, &context) }
  }
}

/// The keystream of CFB, computed from ciphertext by ECB or from plaintext by CBC.
private struct Keystream: ~Copyable, Sendable {
  static let blockByteCount = 16
  /// Bytes of keystream at a time: half of the processor's first-level cache; the data has the other half.
  private static let pieceByteCount = 8 << 10

  /// In locked memory: the input of the current block, the block's keystream, then the keystream of the next
  /// blocks.
  private var memory = SecretBytes(zeroed: 2 * blockByteCount + pieceByteCount)
  /// Bytes of the current block that have been used; less than a block.
  private var used = 0

  init(first: RawSpan, _ context: inout CipherContext) {
    memory.withMutableBytes { memory in
      unsafe memory.withUnsafeMutableBytes { memory in
        unsafe first.withUnsafeBytes { first in
          guard let memory = memory.baseAddress, let first = first.baseAddress else { return }
          unsafe Self.encipher(
            &context, first, Self.blockByteCount, to: memory + Self.blockByteCount)
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
      unsafe encipher(&context, block, blockByteCount, to: keystream)
      used = 0
    }
    while bytes.count - offset >= blockByteCount {
      let count = min((bytes.count - offset) & -blockByteCount, pieceByteCount)
      guard let base = bytes.baseAddress else { return }
      let start = unsafe base + offset
      unsafe encipher(&context, start, count, to: keystream + blockByteCount)
      unsafe exclusiveOr(start, with: keystream, byteCount: count)
      unsafe keystream.copyMemory(from: keystream + count, byteCount: blockByteCount)
      offset += count
    }
    while offset < bytes.count { useOneByte() }
  }

  /// - Parameter byteCount: whole blocks.
  @unsafe
  private static func encipher(
    _ context: inout CipherContext, _ blocks: UnsafeRawPointer, _ byteCount: Int,
    to output: UnsafeMutableRawPointer
  ) {
    let written = unsafe context.update(blocks, byteCount: byteCount, to: output)
    precondition(written == byteCount, "a cipher cannot fail")
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
