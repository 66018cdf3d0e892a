// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Encrypts what a source gives into the chunks of a message of version 2, on two threads.
final class SEIPDv2Encryptor: BatchWork {
  private let source: any ByteSource
  private let layout: SEIPDv2Layout
  private let ciphers: [SEIPDv2ChunkCipher]

  let isSerial = false

  /// The ciphertext, from the first chunk to the tag behind the last.
  static func source(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) -> BatchPipeline {
    let work = try SEIPDv2Encryptor(source, keys)
    return BatchPipeline(work, batchByteCount: work.layout.batchRoom)
  }

  private init(_ source: any ByteSource, _ keys: SEIPDv2Keys) throws(OpenPGPError) {
    self.source = source
    layout = SEIPDv2Layout(chunkByteCount: keys.chunkByteCount)
    ciphers = [try keys.cipher(.seal), try keys.cipher(.seal)]
  }

  func read(_ batch: Batch) throws(OpenPGPError) {
    var filled = 0
    while filled < layout.batchRoom - AEADAlgorithm.tagByteCount {
      let room = filled..<filled + layout.chunkByteCount
      let count = try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
        try bytes.withRange(room) { (chunk) throws(OpenPGPError) in try source.read(into: &chunk) }
      }
      if count > 0 { filled += count + AEADAlgorithm.tagByteCount }
      batch.isLast = count < layout.chunkByteCount
      if batch.isLast { break }
    }
    batch.contentByteCount = filled
  }

  func transform(_ batch: Batch, lane: Int) {
    let cipher = ciphers[lane]
    let count = batch.contentByteCount
    let chunkCount = layout.chunkCount(count)
    let firstNumber = batch.number * layout.batchChunkCount
    batch.bytes.withMutableBytes { bytes in
      for index in 0..<chunkCount {
        bytes.withRange(layout.range(index, of: count)) { cipher.seal(&$0, number: firstNumber + index) }
      }
      guard batch.isLast else { return }
      let total =
        layout.plaintextByteCount(beforeBatch: batch.number) + count
        - chunkCount * AEADAlgorithm.tagByteCount
      bytes.withRange(count..<count + AEADAlgorithm.tagByteCount) {
        cipher.sealEnd(&$0, chunkCount: firstNumber + chunkCount, byteCount: total)
      }
    }
    batch.setContent(0..<count + (batch.isLast ? AEADAlgorithm.tagByteCount : 0))
  }
}
