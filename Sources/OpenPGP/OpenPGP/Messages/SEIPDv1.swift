// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.13.1: encrypted data of version 1. A block of random octets, whose last two are
// repeated, comes before the plaintext; a modification detection code (MDC) comes after it. The plaintext is
// hashed as it passes and the MDC compared at the end. A wrong prefix and a wrong MDC are one error, at one
// moment, so that nobody learns from the difference.

internal import Primitives
internal import Secrets

/// Decrypts the body of a message of version 1. Nothing that comes out is authentic before the end: see
/// ``MDCCheckedSource``.
final class SEIPDv1Decryptor: BatchWork {
  private let source: any ByteSource
  private var cipher: CFBCipher
  private let prefixByteCount: Int
  /// Octets that were read and are still to be decrypted: the last may be the modification detection code.
  private var held: [UInt8]

  /// The decrypted prefix, from the first batch on.
  private(set) var prefix: [UInt8] = []
  /// The decrypted modification detection code, with the last batch.
  private(set) var code: [UInt8] = []

  let isSerial = true

  /// - Parameter beginning: octets of the ciphertext that have been taken from `source` already.
  init(
    _ source: any ByteSource, beginning: [UInt8], _ algorithm: SymmetricAlgorithm, key: SharedSecretBytes
  ) throws(OpenPGPError) {
    self.source = source
    held = beginning
    prefixByteCount = try SEIPDv1Prefix.byteCount(algorithm)
    cipher = try key.withBytes { (key) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(algorithm, .decrypt, key: key)
    }
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    held = try batch.fill(from: source, after: held, keepingBack: SEIPDv1Prefix.mdcByteCount)
    guard batch.contentByteCount >= (batch.number == 0 ? prefixByteCount : 0) else { throw .notAuthentic }
  }

  func transform(_ batch: Batch, lane: Int) {
    let content = batch.contentByteCount
    let end = content + (batch.isLast ? SEIPDv1Prefix.mdcByteCount : 0)
    batch.bytes.withMutableBytes { bytes in bytes.withRange(0..<end) { cipher.process(&$0) } }
    batch.bytes.withBytes { bytes in
      if batch.number == 0 { prefix = [UInt8](copying: bytes.extracting(0..<prefixByteCount)) }
      if batch.isLast { code = [UInt8](copying: bytes.extracting(content..<end)) }
    }
    batch.setContent((batch.number == 0 ? prefixByteCount : 0)..<content)
  }
}

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
  ///   - checks: false for a second reading, when the ciphertext has been recognised already.
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
    // Plaintext that has been lent can be lent again.
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
    let isSame = constantTimeEqual(expected.rawSpan, code.rawSpan)
    guard isSame, SEIPDv1Prefix.isRepeated(work.prefix) else { throw .notAuthentic }
  }

  /// Small enough that a batch stays in the processor's cache between decryption and hashing.
  private static let batchByteCount = 256 << 10
}

/// Encrypts what a source gives into the body of a message of version 1: one thread hashes, another encrypts.
final class SEIPDv1Encryptor: BatchWork {
  private let source: any ByteSource
  private var cipher: CFBCipher
  private var hash = HashContext(.sha1)
  private let prefix: [UInt8]

  let isSerial = true

  /// The ciphertext, from the prefix to the modification detection code.
  static func source(
    _ source: any ByteSource, _ algorithm: SymmetricAlgorithm, key: SharedSecretBytes
  ) throws(OpenPGPError) -> BatchPipeline {
    BatchPipeline(try SEIPDv1Encryptor(source, algorithm, key: key), batchByteCount: batchByteCount)
  }

  private init(
    _ source: any ByteSource, _ algorithm: SymmetricAlgorithm, key: SharedSecretBytes
  ) throws(OpenPGPError) {
    self.source = source
    prefix = try SEIPDv1Prefix.random(algorithm)
    cipher = try key.withBytes { (key) throws(OpenPGPError) in
      try SEIPDv1Prefix.cipher(algorithm, .encrypt, key: key)
    }
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    let beginning = batch.number == 0 ? prefix : []
    let start = beginning.count
    // The MDC needs room after the last octets.
    let room = start..<batch.bytes.count - SEIPDv1Prefix.mdcByteCount
    var filled = try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      bytes.copy(beginning.rawSpan, to: 0)
      return start
        + (try bytes.withRange(room) { (free) throws(OpenPGPError) in try source.read(into: &free) })
    }
    batch.isLast = filled < room.upperBound
    batch.bytes.withBytes { hash.update($0.extracting(0..<filled)) }
    if batch.isLast {
      let code = SEIPDv1Prefix.mdcHeader + SEIPDv1Prefix.digest(hash)
      batch.bytes.withMutableBytes { $0.copy(code.rawSpan, to: filled) }
      filled += code.count
    }
    batch.contentByteCount = filled
  }

  func transform(_ batch: Batch, lane: Int) {
    let count = batch.contentByteCount
    batch.bytes.withMutableBytes { bytes in bytes.withRange(0..<count) { cipher.process(&$0) } }
    batch.setContent(0..<count)
  }

  /// Small enough that a batch stays in the processor's cache between hashing and encryption.
  private static let batchByteCount = 256 << 10
}

/// The octets around the plaintext of a message of version 1.
enum SEIPDv1Prefix {
  /// Octets of the packet at the end: two of header, and a SHA-1.
  static let mdcByteCount = 22
  /// The header of the packet at the end.
  static let mdcHeader: [UInt8] = [0xD3, 0x14]

  static func byteCount(_ cipher: SymmetricAlgorithm) throws(OpenPGPError) -> Int {
    guard let blockByteCount = cipher.blockByteCount else {
      throw .unsupported(.symmetricAlgorithm(cipher.rawValue))
    }
    return blockByteCount + 2
  }

  static func random(_ cipher: SymmetricAlgorithm) throws(OpenPGPError) -> [UInt8] {
    let block = SystemRandom.publicBytes(count: try byteCount(cipher) - 2)
    return block + block.suffix(2)
  }

  /// Whether the last two octets repeat the two before them.
  static func isRepeated(_ prefix: [UInt8]) -> Bool {
    Array(prefix.suffix(4).prefix(2)) == Array(prefix.suffix(2))
  }

  /// The modification detection code: a hash of the prefix, the plaintext, and the code's own header.
  static func digest(_ hash: borrowing HashContext) -> [UInt8] {
    var hash = hash.duplicate()
    hash.update(mdcHeader)
    return hash.finish()
  }

  /// CFB with the session key, and an IV of zeros.
  static func cipher(
    _ algorithm: SymmetricAlgorithm, _ direction: CFBCipher.Direction, key: RawSpan
  ) throws(OpenPGPError) -> CFBCipher {
    let iv = [UInt8](repeating: 0, count: try byteCount(algorithm) - 2)
    return try CFBCipher(algorithm, direction, key: key, iv: iv.rawSpan)
  }
}
