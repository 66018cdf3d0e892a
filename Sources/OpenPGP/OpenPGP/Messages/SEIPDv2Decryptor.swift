// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Decrypts the chunks of a message of version 2, on two threads. Only chunks that are authentic are handed
/// out, and the end comes only when the tag of the whole message is right.
final class SEIPDv2Decryptor: BatchWork {
  private let source: any ByteSource
  private let layout: SEIPDv2Layout
  private let ciphers: [SEIPDv2ChunkCipher]
  /// The last octets that were read: they may be the tag of the whole message.
  private var held: [UInt8] = []

  let isSerial = false

  /// The plaintext of `source`, which begins with the first chunk and ends with the last tag.
  /// - Parameter byteCount: of `source`, where that is known: a short message needs little memory.
  static func source(
    _ source: any ByteSource, byteCount: Int?, _ keys: SEIPDv2Keys
  ) throws(OpenPGPError) -> BatchPipeline {
    let work = try SEIPDv2Decryptor(source, keys)
    let room = BatchPipeline.room(work.layout.batchRoom, forStreamOf: byteCount)
    // Two large chunks under way keep both threads busy, and memory small.
    let isLarge = work.layout.batchChunkCount == 1
    return BatchPipeline(work, batchByteCount: room, batchCount: isLarge ? 3 : 4)
  }

  private init(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) {
    self.source = source
    layout = SEIPDv2Layout(chunkByteCount: keys.chunkByteCount)
    ciphers = [try keys.cipher(.open), try keys.cipher(.open)]
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    held = try batch.fill(from: source, behind: held, keepingBack: AEADAlgorithm.tagByteCount)
  }

  func transform(_ batch: Batch, lane: Int) throws(OpenPGPError) {
    let cipher = ciphers[lane]
    let count = batch.contentByteCount
    let chunkCount = layout.chunkCount(count)
    let firstNumber = batch.number * layout.batchChunkCount
    let plaintextCount = count - chunkCount * AEADAlgorithm.tagByteCount
    try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      for index in 0..<chunkCount {
        let range = layout.range(index, of: count)
        // A chunk without plaintext is none.
        guard range.count > AEADAlgorithm.tagByteCount else { throw .notAuthentic }
        try bytes.withRange(range) { (chunk) throws(OpenPGPError) in
          try cipher.open(&chunk, number: firstNumber + index)
        }
      }
      guard batch.isLast else { return }
      let total = layout.plaintextByteCount(beforeBatch: batch.number) + plaintextCount
      try bytes.withRange(count..<count + AEADAlgorithm.tagByteCount) { (tag) throws(OpenPGPError) in
        try cipher.openEnd(&tag, chunkCount: firstNumber + chunkCount, byteCount: total)
      }
    }
    let tagCount = AEADAlgorithm.tagByteCount
    batch.setContent(
      0..<max(0, count - tagCount), pieceByteCount: layout.chunkByteCount, gapByteCount: tagCount)
  }
}
