// SPDX-License-Identifier: Apache-2.0
//
// Searches the memory of this process, or of another one, for bytes that should not be there. The search of this one
// has a thread of its own, whose stack, needle and window are pages that it leaves out: it writes over nothing that the
// caller's thread has left, and what its own registers and frames hold is not found.
//
// A process that has other tests in it is large, and they may read or copy what is searched for: a test that searches
// runs in a process of its own, `await #expect(processExitsWith: .success) { … }`.

import Glibc

/// The readable memory of a process.
public enum ProcessMemory {
  /// The kernel does not show this memory.
  public struct Unreadable: Error {}

  /// Where half of the needle, first or second, stands: the regions as the kernel's map names them.
  /// - Parameter process: another process than this one; only root reads one that does not let itself be dumped.
  public static func places(of needle: Needle, in process: Int32? = nil) throws -> [String] {
    guard let search = OwnThreadSearch(needle, process.map { "/proc/\($0)" } ?? "/proc/self") else {
      throw Unreadable()
    }
    return try search.run().get()
  }
}

/// One search.
private final class OwnThreadSearch {
  private let needle: Needle
  private let process: String
  private let pages: UnsafeMutableRawPointer
  private var result: Result<[String], ProcessMemory.Unreadable> = .failure(ProcessMemory.Unreadable())

  /// Stack, needle and window follow one another.
  private static let stackByteCount = 512 << 10
  private static let needleByteCount = 64 << 10
  /// Stays in the processor's cache.
  private static let windowByteCount = 256 << 10
  private static let byteCount = stackByteCount + needleByteCount + windowByteCount

  private typealias Find =
    @convention(c) (
      _ place: UnsafeRawPointer, _ byteCount: Int, _ wanted: UnsafeRawPointer, _ wantedByteCount: Int
    ) -> UnsafeMutableRawPointer?

  /// memmem(3), a GNU extension, which Swift does not import.
  private static let memmem: Find = {
    guard let symbol = dlsym(nil, "memmem") else { preconditionFailure("the C library has no memmem") }
    return unsafeBitCast(symbol, to: Find.self)
  }()

  init?(_ needle: Needle, _ process: String) {
    precondition(needle.count >= 2, "half of it is looked for")
    guard needle.count <= Self.needleByteCount,
      let pages = mmap(
        nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      pages != MAP_FAILED
    else { return nil }
    self.needle = needle
    self.process = process
    self.pages = pages
  }

  deinit {
    explicit_bzero(pages, Self.byteCount)
    munmap(pages, Self.byteCount)
  }

  /// Searches on a thread of its own, and waits for it.
  func run() -> Result<[String], ProcessMemory.Unreadable> {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return result }
    defer { pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let me = Unmanaged.passUnretained(self).toOpaque()
    guard pthread_attr_setstack(&attributes, pages, Self.stackByteCount) == 0,
      pthread_create(
        &thread, &attributes,
        { me in
          guard let me else { return nil }
          let search = Unmanaged<OwnThreadSearch>.fromOpaque(me).takeUnretainedValue()
          search.result = Result { () throws(ProcessMemory.Unreadable) in try search.places() }
          return nil
        }, me) == 0
    else { return result }
    pthread_join(thread, nil)
    return result
  }

  private func places() throws(ProcessMemory.Unreadable) -> [String] {
    let memory = open(process + "/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw ProcessMemory.Unreadable() }
    defer { close(memory) }
    let revealed = pages + Self.stackByteCount
    needle.reveal(at: revealed)
    let first = UInt(bitPattern: pages)
    let own = process == "/proc/self" ? first..<first + UInt(Self.byteCount) : 0..<0
    var places: [String] = []
    for (region, part) in try MappedRegion.held(by: process) {
      // The kernel may have made one region of these pages and others.
      for part in [
        part.clamped(to: 0..<own.lowerBound), part.clamped(to: own.upperBound..<UInt.max),
      ] where !part.isEmpty {
        search(part, memory, revealed) { name, place in
          places.append("\(name) half in \(region.name) at +\(place - region.range.lowerBound)")
        }
      }
    }
    return places
  }

  private func search(
    _ part: Range<UInt>, _ memory: Int32, _ revealed: UnsafeMutableRawPointer,
    found: (_ name: String, _ place: UInt) -> Void
  ) {
    let half = needle.count / 2
    let window = revealed + Self.needleByteCount
    var start = part.lowerBound
    while start < part.upperBound {
      let wanted = min(Self.windowByteCount, Int(part.upperBound - start))
      let count = pread(memory, window, wanted, Int(bitPattern: start))
      guard count > 0 else {
        start += UInt(getpagesize())
        continue
      }
      for (name, offset) in [("first", 0), ("second", half)] {
        var place = 0
        while let hit = Self.memmem(window + place, count - place, revealed + offset, half) {
          found(name, start + UInt(window.distance(to: hit)))
          place = window.distance(to: hit) + 1
        }
      }
      // The next window begins early enough for a half that lies across the edge, and too late for one found here.
      start += UInt(count) == part.upperBound - start ? UInt(count) : UInt(max(count - half + 1, 1))
    }
  }
}

/// A part of a process's address space.
private struct MappedRegion {
  let range: Range<UInt>
  /// A file, `[heap]`, `[stack]`, or "anonymous memory".
  let name: String
  let isShared: Bool
  let isExecutable: Bool

  var isFile: Bool { name.hasPrefix("/") }

  /// A sanitizer keeps a map of all memory in regions of tebibytes, which hold no data of the program.
  private static let shadowByteCount: UInt = 1 << 40

  /// What a process may read and may have put anything into.
  ///
  /// Left out are pages that a process has never written to, and those of programs and libraries that are still as the
  /// files have them: pages of their own that a loader or anybody else has written to are not.
  static func held(
    by process: String
  ) throws(ProcessMemory.Unreadable) -> [(region: MappedRegion, part: Range<UInt>)] {
    let regions = try all(of: process)
    let programs = Set(regions.lazy.filter { $0.isExecutable && $0.isFile }.map(\.name))
    let map = PageMap(process)
    var held: [(region: MappedRegion, part: Range<UInt>)] = []
    for region in regions {
      let parts =
        if region.isShared || region.isFile && !programs.contains(region.name) {
          [region.range]
        } else if region.isFile {
          map.parts(of: region.range) { $0.isOwn }
        } else {
          map.heldParts(of: region.range)
        }
      held += parts.map { (region, $0) }
    }
    return held
  }

  private static func all(of process: String) throws(ProcessMemory.Unreadable) -> [MappedRegion] {
    guard let file = fopen(process + "/maps", "r") else { throw ProcessMemory.Unreadable() }
    defer { fclose(file) }
    var regions: [MappedRegion] = []
    var line = [CChar](repeating: 0, count: 8_192)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // "7f1c00000000-7f1c00021000 rw-p 00000000 00:00 0    [heap]"
      let fields = text.split(separator: " ", maxSplits: 5)
      guard fields.count >= 5, fields[1].hasPrefix("r") else { continue }
      let name = fields.count > 5 ? String(fields[5].drop { $0 == " " }) : ""
      // Pages of the kernel, which cannot be read this way.
      guard !name.hasPrefix("[vvar"), name != "[vsyscall]" else { continue }
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, ends[1] - ends[0] < shadowByteCount else { continue }
      regions.append(
        MappedRegion(
          range: ends[0]..<ends[1], name: name.isEmpty ? "anonymous memory" : name,
          isShared: fields[1].hasSuffix("s"), isExecutable: fields[1].contains("x")))
    }
    return regions
  }
}
