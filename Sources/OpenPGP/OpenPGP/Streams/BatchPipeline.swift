// SPDX-License-Identifier: Apache-2.0
//
// Keeps two processors busy with one stream: batches are read in order, worked on by any thread that is free,
// and taken in order by the thread that asks for them. That thread works too when nothing is ready for it. A
// second thread is started only if the stream has more than one batch.

internal import Primitives
internal import Secrets

/// A stream of batches as a source.
final class BatchPipeline: ByteSource {
  private let shared: SharedBatches
  private var worker: WorkerThread?
  private var current: Batch?

  /// - Parameters:
  ///   - work: belongs to the pipeline until that is gone, with what it reads from.
  ///   - batchByteCount: the capacity of a batch.
  ///   - batchCount: how many batches are under way.
  init(_ work: any BatchWork, batchByteCount: Int, batchCount: Int = 4) {
    shared = SharedBatches(work, batchByteCount: batchByteCount, batchCount: batchCount)
  }

  /// The room of a batch that holds all of a short stream, so that it is seen to end there.
  /// - Parameters:
  ///   - usual: for streams of other lengths.
  ///   - byteCount: of the stream, where that is known.
  static func room(_ usual: Int, forStreamOf byteCount: Int?) -> Int {
    byteCount.map { min(usual, $0 + 1) } ?? usual
  }

  /// The source and the batches are in use until the second thread has ended, which may wait for input.
  deinit {
    shared.close()
    worker?.join()
  }

  func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while true {
      if let current, let range = current.nextPiece {
        return try current.bytes.withBytes { (bytes) throws(OpenPGPError) -> R in
          try body(bytes.extracting(range))
        }
      }
      guard try advance() else { return try body(RawSpan()) }
    }
  }

  func consume(_ count: Int) { current?.consume(count) }

  /// Takes the next batch; false after the last. A failure stays.
  private func advance() throws(OpenPGPError) -> Bool {
    if let current {
      if let failure = current.failure { throw failure }
      if current.isLast { return false }
      shared.giveBack(current)
    }
    let next = shared.take()
    current = next
    if let failure = next.failure { throw failure }
    if worker == nil, !next.isLast {
      worker = WorkerThread { [shared] in shared.work() }
    }
    return true
  }
}

/// What a ``BatchPipeline`` does with the batches of a stream.
protocol BatchWork: AnyObject {
  /// Whether ``transform(_:lane:)`` has to see the batches one after the other, in order.
  var isSerial: Bool { get }

  /// Fills the next batch; the calls come in the order of the stream, one at a time. Says which is the last.
  func read(_ batch: Batch) throws(OpenPGPError)

  /// Works on a batch that has been read: on several at once, on different lanes, unless the work is serial.
  /// - Parameter lane: 0 or 1, for what each thread needs for itself.
  func transform(_ batch: Batch, lane: Int) throws(OpenPGPError)
}

/// A part of a stream on its way through a ``BatchPipeline``.
final class Batch {
  enum State { case free, reading, read, transforming, ready, lent }

  /// As many bytes as a batch can hold.
  var bytes: SecretBytes
  /// Whether the stream ends with this batch.
  var isLast = false
  /// What reading leaves for transforming: how many bytes there are.
  var contentByteCount = 0
  /// Its state, under the pipeline's lock.
  var state = State.free
  var number = 0
  var failure: OpenPGPError?

  /// The octets still to be handed out: pieces of one size, apart from the last, with gaps between them.
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

extension Batch {
  /// Fills the batch with `beginning`, which the batch before kept back, and then from `source`, up to its room or the
  /// end. Ciphertext ends with what authenticates it, and only the end of the stream shows where that begins.
  /// - Returns: the last `count` octets, which are not content: the batch after this one begins with them,
  ///   and in the last batch they are the tag or code of the whole.
  /// - Throws: ``OpenPGPError/notAuthentic`` when there are fewer.
  func fill(
    from source: any ByteSource, after beginning: [UInt8], keepingBack count: Int
  ) throws(OpenPGPError) -> [UInt8] {
    let start = beginning.count
    let room = bytes.count
    let filled = try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      bytes.copy(beginning.rawSpan, to: 0)
      return start
        + (try bytes.withRange(start..<room) { (free) throws(OpenPGPError) in try source.read(into: &free) })
    }
    guard filled >= count else { throw .notAuthentic }
    isLast = filled < room
    contentByteCount = filled - count
    return bytes.withBytes { [UInt8](copying: $0.extracting(contentByteCount..<filled)) }
  }
}

/// Reads another source on a thread of its own, ahead of what is asked for: for work that keeps this thread
/// busy, such as hashing.
public final class ReadAheadSource: ByteSource {
  private let pipeline: BatchPipeline

  /// `source` belongs to this one from now on.
  public init(_ source: any ByteSource) {
    pipeline = BatchPipeline(ReadingAhead(source), batchByteCount: Self.batchByteCount)
  }

  /// See ``ByteSource/withNext(_:)``.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try pipeline.withNext(body)
  }

  /// See ``ByteSource/consume(_:)``.
  public func consume(_ count: Int) { pipeline.consume(count) }

  private static let batchByteCount = 256 << 10
}

/// Reads, and does nothing else.
private final class ReadingAhead: BatchWork {
  private let source: any ByteSource

  init(_ source: any ByteSource) { self.source = source }

  let isSerial = false

  func read(_ batch: Batch) throws(OpenPGPError) {
    let room = batch.bytes.count
    let count = try batch.bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      try source.read(into: &bytes)
    }
    batch.setContent(0..<count)
    batch.isLast = count < room
  }

  func transform(_ batch: Batch, lane: Int) {}
}
