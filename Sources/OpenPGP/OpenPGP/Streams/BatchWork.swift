// SPDX-License-Identifier: Apache-2.0

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
