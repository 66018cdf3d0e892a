// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

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
    // The code needs room behind the last octets.
    let room = start..<batch.bytes.count - SEIPDv1Prefix.mdcByteCount
    var filled = try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      bytes.copy(unsafe beginning.span.bytes, to: 0)
      return start
        + (try bytes.withRange(room) { (free) throws(OpenPGPError) in try source.read(into: &free) })
    }
    batch.isLast = filled < room.upperBound
    batch.bytes.withBytes { hash.update($0.extracting(0..<filled)) }
    if batch.isLast {
      let code = SEIPDv1Prefix.mdcHeader + SEIPDv1Prefix.digest(hash)
      batch.bytes.withMutableBytes { $0.copy(unsafe code.span.bytes, to: filled) }
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
