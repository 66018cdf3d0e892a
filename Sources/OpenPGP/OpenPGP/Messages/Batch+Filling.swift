// SPDX-License-Identifier: Apache-2.0
//
// Ciphertext ends with what authenticates it, and only the end of the stream shows where that begins.

internal import Primitives
internal import Secrets

extension Batch {
  /// Fills the batch with `beginning`, which the batch before has kept back, and then from `source`, to its
  /// room or the end.
  /// - Returns: the last `count` octets, which are no content: the batch after this one begins with them, and in
  ///   the last batch they are the tag or code of the whole.
  /// - Throws: ``OpenPGPError/notAuthentic`` when there are fewer.
  func fill(
    from source: any ByteSource, behind beginning: [UInt8], keepingBack count: Int
  ) throws(OpenPGPError) -> [UInt8] {
    let start = beginning.count
    let room = bytes.count
    let filled = try bytes.withMutableBytes { (bytes) throws(OpenPGPError) in
      bytes.copy(unsafe beginning.span.bytes, to: 0)
      return start
        + (try bytes.withRange(start..<room) { (free) throws(OpenPGPError) in try source.read(into: &free) })
    }
    guard filled >= count else { throw .notAuthentic }
    isLast = filled < room
    contentByteCount = filled - count
    return bytes.withBytes { [UInt8](copying: $0.extracting(contentByteCount..<filled)) }
  }
}
