// SPDX-License-Identifier: Apache-2.0
//
// How one stream keeps two processors busy: batches are read in order, worked on by whoever is free, and taken
// in order by the thread that asks for them. That thread works too when nothing is ready for it; a second
// thread is started only when the stream has more than one batch.

internal import Primitives
internal import Secrets

/// A stream of batches as a source.
final class BatchPipeline: ByteSource {
  private let shared: SharedBatches
  private var worker: WorkerThread?
  private var current: Batch?

  /// - Parameters:
  ///   - work: belongs to the pipeline until that is gone, with what it reads from.
  ///   - batchByteCount: the room of a batch.
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
