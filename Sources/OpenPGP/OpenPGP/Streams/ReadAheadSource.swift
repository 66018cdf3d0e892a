// SPDX-License-Identifier: Apache-2.0

internal import Secrets

/// Reads another source on a thread of its own, ahead of what is asked for: for work that keeps this thread
/// busy, such as hashing.
public final class ReadAheadSource: ByteSource {
  private let pipeline: BatchPipeline

  /// `source` belongs to this one from now on.
  public init(_ source: any ByteSource) {
    pipeline = BatchPipeline(ReadingAhead(source), batchByteCount: Self.batchByteCount)
  }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try pipeline.withNext(body)
  }

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
