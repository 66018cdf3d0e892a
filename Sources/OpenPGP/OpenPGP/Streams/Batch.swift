// SPDX-License-Identifier: Apache-2.0

internal import Secrets

/// A part of a stream on its way through a ``BatchPipeline``.
final class Batch {
  enum State { case free, reading, read, transforming, ready, lent }

  /// All the room there is.
  var bytes: SecretBytes
  /// Whether the stream ends with this batch.
  var isLast = false
  /// What reading leaves for transforming: how many bytes there are.
  var contentByteCount = 0
  /// What the pipeline knows of it, under the pipeline's lock.
  var state = State.free
  var number = 0
  var failure: OpenPGPError?

  /// What is still to be handed out: pieces of one size, apart from the last, with gaps between them.
  private var piece = 0..<0
  private var end = 0
  private var pieceByteCount = 0
  private var gapByteCount = 0

  init(byteCount: Int) { bytes = SecretBytes(zeroed: byteCount) }

  /// Hands out all of `range`.
  func setContent(_ range: Range<Int>) {
    setContent(range, pieceByteCount: max(range.count, 1), gapByteCount: 0)
  }

  /// Hands out the pieces in `range` without the gaps between them.
  func setContent(_ range: Range<Int>, pieceByteCount: Int, gapByteCount: Int) {
    end = range.upperBound
    self.pieceByteCount = pieceByteCount
    self.gapByteCount = gapByteCount
    piece = range.lowerBound..<min(range.lowerBound + pieceByteCount, end)
  }

  /// The bytes to be handed out next; nil after the last.
  var nextPiece: Range<Int>? { piece.isEmpty ? nil : piece }

  func consume(_ count: Int) {
    precondition(count <= piece.count, "more was consumed than lent")
    piece = piece.lowerBound + count..<piece.upperBound
    if piece.isEmpty, piece.upperBound < end {
      let start = piece.upperBound + gapByteCount
      piece = start..<min(start + pieceByteCount, end)
    }
  }
}
