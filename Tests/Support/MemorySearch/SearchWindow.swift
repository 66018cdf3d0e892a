// SPDX-License-Identifier: Apache-2.0
//
// Reads what may be much larger than memory should be, piece by piece, each beginning early enough for a
// trace that lies across an edge; and searches every piece.

import Glibc

/// A buffer to read into and search.
public final class SearchWindow {
  private let search: TraceSearch
  private let buffer: UnsafeMutableRawPointer
  /// How many bytes the next piece repeats of this one.
  private let overlap: Int

  private static let byteCount = 1 << 20

  public init(_ search: TraceSearch) {
    self.search = search
    overlap = (search.longest + 7) / 8 * 8
    // A word more, so that the last one can be read whole.
    buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.byteCount + 8, alignment: 8)
    buffer.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount + 8)
  }

  deinit { buffer.deallocate() }

  /// Searches bytes that are here, fewer than a piece has.
  public func searchBytes(_ bytes: [UInt8], found: (Int, ToldSecret.Trace, UInt) -> Void) {
    precondition(bytes.count <= Self.byteCount, "registers are few")
    bytes.withUnsafeBytes { buffer.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    search.search(buffer, byteCount: bytes.count) { found($0, $1, UInt($2)) }
  }

  /// Searches a file, but for its holes, where nothing was ever written (lseek(2), SEEK_HOLE).
  ///
  /// - Parameter found: the number of the secret, the trace, and its place in the file.
  /// - Returns: how many bytes could not be read.
  public func searchWritten(
    _ descriptor: Int32, byteCount: Int, found: (Int, ToldSecret.Trace, UInt) -> Void
  ) -> Int {
    var unread = 0
    var start = 0
    while start < byteCount {
      let data = lseek(descriptor, start, Self.seekData)
      // ENXIO: a hole up to the end. Another error: no file system that tells of holes.
      guard data >= 0 || errno != ENXIO else { break }
      let first = max(data, start)
      let hole = data < 0 ? byteCount : lseek(descriptor, first, Self.seekHole)
      let end = hole > first ? min(hole, byteCount) : byteCount
      // A trace may end with zeros of the hole.
      let limit = min(end + overlap, byteCount)
      unread += searchFile(descriptor, UInt(first)..<UInt(limit), found: found)
      start = end
    }
    return unread
  }

  private static let seekData: Int32 = 3
  private static let seekHole: Int32 = 4

  /// Searches `range` of a file.
  ///
  /// - Parameter found: the number of the secret, the trace, and its place in the file.
  /// - Returns: how many bytes could not be read.
  public func searchFile(
    _ descriptor: Int32, _ range: Range<UInt>, found: (Int, ToldSecret.Trace, UInt) -> Void
  ) -> Int {
    var unread = 0
    var start = range.lowerBound
    // Traces that end before this were found in the piece before.
    var isNew: UInt = 0
    while start < range.upperBound {
      let wanted = min(Self.byteCount, Int(range.upperBound - start))
      let count = pread(descriptor, buffer, wanted, off_t(bitPattern: start))
      guard count > 0 else {
        let page = min(UInt(getpagesize()), range.upperBound - start)
        unread += Int(page)
        start += page
        continue
      }
      search.search(buffer, byteCount: count) { secret, trace, offset in
        let place = start + UInt(offset)
        if place + UInt(trace.bytes.count) > isNew { found(secret, trace, place) }
      }
      isNew = start + UInt(count)
      // After a short read the next piece begins where nothing could be read.
      let isLast = isNew >= range.upperBound || count < wanted
      start = isLast ? isNew : isNew - UInt(overlap)
    }
    return unread
  }
}
