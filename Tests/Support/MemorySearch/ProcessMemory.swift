// SPDX-License-Identifier: Apache-2.0
//
// Searches the memory of this process, or of another one, for bytes that should not be there.

import Glibc
import Synchronization

/// The readable memory of a process.
public enum ProcessMemory {
  /// One search at a time: what one has read into its window, such as another test's secret while that was in
  /// use, must not be there when that other test searches.
  private static let turn = Mutex(())

  private static let own = "/proc/self"

  /// The kernel does not show this memory.
  public struct Unreadable: Error {}

  /// Where half of the needle, first or second, stands: the regions as the kernel's map names them.
  /// - Parameter process: another process than this one; only root reads one that does not let itself be dumped.
  public static func places(of needle: Needle, in process: Int32? = nil) throws -> [String] {
    try turn.withLock { _ in try search(needle, process.map { "/proc/\($0)" } ?? own) }
  }

  private static func search(_ needle: Needle, _ process: String) throws -> [String] {
    let half = needle.count / 2
    let memory = open(process + "/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw Unreadable() }
    defer { close(memory) }
    let window = 1 << 20
    guard let pages = mmap(nil, window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      pages != MAP_FAILED
    else { throw Unreadable() }
    defer { munmap(pages, window) }
    let first = UInt(bitPattern: pages)
    let own = process == Self.own ? first..<first + UInt(window) : 0..<0

    var places: [String] = []
    for region in try regions(of: process) {
      var start = region.range.lowerBound
      while start < region.range.upperBound {
        // The window's own pages hold what was read before. The kernel may have merged them with others.
        if own.contains(start) {
          start = own.upperBound
          continue
        }
        let limit =
          start < own.lowerBound
          ? min(region.range.upperBound, own.lowerBound) : region.range.upperBound
        let count = pread(memory, pages, min(window, Int(limit - start)), Int(bitPattern: start))
        guard count > 0 else {
          start += UInt(getpagesize())
          continue
        }
        for (name, offset) in [("first", 0), ("second", half)] {
          for place in find(needle, from: offset, count: half, in: pages, byteCount: count) {
            places.append(
              "\(name) half in \(region.name) at +\(start + UInt(place) - region.range.lowerBound)")
          }
        }
        // The next window begins early enough for a half that lies across the edge.
        start += UInt(count) == limit - start ? UInt(count) : UInt(max(count - half, 1))
      }
    }
    return places
  }

  /// Two neighbouring bytes are looked for by themselves first, of which memory is not full: comparing is slow.
  private static func find(
    _ needle: Needle, from start: Int, count: Int, in pages: UnsafeRawPointer, byteCount: Int
  ) -> [Int] {
    let anchor = (0..<count - 1).first { ![0, 0xFF].contains(needle.byte(start + $0)) } ?? 0
    let first = Int32(needle.byte(start + anchor))
    let second = needle.byte(start + anchor + 1)
    var found: [Int] = []
    var offset = anchor
    let end = byteCount - count + anchor + 1
    while offset < end, let hit = memchr(pages + offset, first, end - offset) {
      let place = pages.distance(to: UnsafeRawPointer(hit))
      if hit.load(fromByteOffset: 1, as: UInt8.self) == second,
        needle.matches(pages + place - anchor, from: start, count: count)
      {
        found.append(place - anchor)
      }
      offset = place + 1
    }
    return found
  }

  /// A sanitizer keeps a map of all memory in regions of tebibytes, which hold no data of the program.
  private static let shadowByteCount: UInt = 1 << 40

  private struct Region {
    let range: Range<UInt>
    let name: String
  }

  private static func regions(of process: String) throws -> [Region] {
    guard let file = fopen(process + "/maps", "r") else { throw Unreadable() }
    defer { fclose(file) }
    var regions: [Region] = []
    var line = [CChar](repeating: 0, count: 4_096)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let fields = text.split(whereSeparator: \.isWhitespace)
      guard fields.count >= 5, fields[1].hasPrefix("r") else { continue }
      let name = fields.count > 5 ? String(fields[5]) : "anonymous memory"
      // Pages of the kernel, which cannot be read this way.
      guard name != "[vvar]", name != "[vvar_vclock]", name != "[vsyscall]" else { continue }
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, ends[1] - ends[0] < shadowByteCount else { continue }
      regions.append(Region(range: ends[0]..<ends[1], name: name))
    }
    return regions
  }
}
