// SPDX-License-Identifier: Apache-2.0
//
// Which pages a process has (Linux, Documentation/admin-guide/mm/pagemap.rst): what it has never written to has none.

import Glibc

/// The pages of a process, as the kernel tells them.
public final class PageMap {
  /// What the kernel says of a page.
  struct Page {
    fileprivate let bits: UInt64

    /// In memory, or swapped out of it.
    var isHeld: Bool { bits & (0b11 << 62) != 0 }
    /// Belongs to the process alone: not one of a file, and not shared.
    var isOwn: Bool { isHeld && bits & (1 << 61) == 0 }
  }

  private let descriptor: Int32
  private let pageByteCount = UInt(getpagesize())

  /// - Parameter process: its folder, such as `/proc/self`.
  init(_ process: String) { descriptor = open(process + "/pagemap", O_RDONLY | O_CLOEXEC) }

  /// - Parameter process: a process that this one may read.
  public convenience init(of process: Int32) { self.init("/proc/\(process)") }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The parts of a region of private, anonymous memory that may hold anything but zeros.
  public func heldParts(of range: Range<UInt>) -> [Range<UInt>] { parts(of: range) { $0.isHeld } }

  /// Neighbouring pages of which `isWanted` is true, together. All are wanted where the kernel does not tell.
  func parts(of range: Range<UInt>, where isWanted: (Page) -> Bool) -> [Range<UInt>] {
    var parts: [Range<UInt>] = []
    var entries = [UInt64](repeating: 0, count: 4_096)
    var start = range.lowerBound
    while start < range.upperBound {
      let wanted = min(entries.count, Int((range.upperBound - start) / pageByteCount))
      let byteCount = entries.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, 8 * wanted, off_t(start / pageByteCount * 8))
      }
      guard wanted > 0, byteCount >= 8 else {
        Self.add(start..<range.upperBound, to: &parts)
        return parts
      }
      for index in 0..<byteCount / 8 {
        let end = start + pageByteCount
        if isWanted(Page(bits: entries[index])) { Self.add(start..<end, to: &parts) }
        start = end
      }
    }
    return parts
  }

  private static func add(_ new: Range<UInt>, to parts: inout [Range<UInt>]) {
    if let last = parts.last, last.upperBound == new.lowerBound {
      parts[parts.count - 1] = last.lowerBound..<new.upperBound
    } else {
      parts.append(new)
    }
  }
}
