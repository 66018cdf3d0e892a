// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Primitives

/// Bytes in memory, read in order as a file is.
struct DataReader {
  private let data: Data
  private var offset = 0

  init(_ data: Data) { self.data = data }

  /// Fills `buffer`; fewer bytes only at the end.
  mutating func read(into buffer: inout MutableRawSpan) -> Int {
    let count = min(buffer.byteCount, data.count - offset)
    buffer.copy(data.bytes.extracting(offset..<offset + count), to: 0)
    offset += count
    return count
  }
}
