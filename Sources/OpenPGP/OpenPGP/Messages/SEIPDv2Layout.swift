// SPDX-License-Identifier: Apache-2.0

/// How the chunks of a message of version 2 lie in the batches that they are worked on in.
struct SEIPDv2Layout {
  /// Octets of plaintext in a chunk.
  let chunkByteCount: Int
  /// Chunks in a batch.
  let batchChunkCount: Int

  init(chunkByteCount: Int) {
    self.chunkByteCount = chunkByteCount
    batchChunkCount = max(1, Self.batchByteCount / chunkByteCount)
  }

  /// Octets of a whole chunk with its tag.
  var sealedByteCount: Int { chunkByteCount + AEADAlgorithm.tagByteCount }
  /// Room for the chunks of a batch, and for the tag of the whole message.
  var batchRoom: Int { batchChunkCount * sealedByteCount + AEADAlgorithm.tagByteCount }

  /// Where chunk `index` of a batch lies, with its tag, when the batch holds `byteCount` octets of ciphertext.
  func range(_ index: Int, of byteCount: Int) -> Range<Int> {
    let start = index * sealedByteCount
    return start..<min(start + sealedByteCount, byteCount)
  }

  /// How many chunks lie in `byteCount` octets of ciphertext.
  func chunkCount(_ byteCount: Int) -> Int { (byteCount + sealedByteCount - 1) / sealedByteCount }

  /// Octets of plaintext in the batches before batch `number`.
  func plaintextByteCount(beforeBatch number: Int) -> Int { number * batchChunkCount * chunkByteCount }

  /// Large enough that handing over costs nothing; four of them stay below what may be locked.
  private static let batchByteCount = 512 << 10
}
