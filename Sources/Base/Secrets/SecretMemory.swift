// SPDX-License-Identifier: Apache-2.0
//
// Where secret bytes live: pages of their own, locked against swapping, left out of core dumps, wiped in
// a forked child, between two guard pages. Small secrets share locked slabs, so that making one costs a
// lock and a pop; large ones get a mapping each. Every cell is erased before it is handed back, so a
// fresh cell is always zero.
//
// Concurrency: one mutex around the free lists. A cell that was handed out belongs to one `SecretBytes`.

internal import CSystem
internal import Glibc
internal import Synchronization

/// The process's memory for secrets.
public enum SecretMemory {
  /// Secrets larger than this are kept out of core dumps and erased, but not locked: a photograph or a
  /// long message must not use up the few MiB (`RLIMIT_MEMLOCK`) that keys need.
  public static let lockedByteCountLimit = 1 << 20

  /// False once the system has refused to lock a page that should have been locked.
  ///
  /// Raise `ulimit -l` when it is. ``prepare()`` makes too little for the first slabs, 256 KiB, an error at
  /// the start.
  public static var isLocked: Bool { pool.withLock { !$0.lockWasRefused } }

  /// Makes the process undumpable, keeps crash reports from showing its memory, and reserves the first locked
  /// slab of each small size.
  ///
  /// Call it before the first secret is read.
  /// - Throws: ``SecretMemoryError`` when the process stays dumpable or those slabs, 256 KiB, cannot be locked.
  public static func prepare() throws(SecretMemoryError) {
    guard coffer_make_undumpable() == 0 else { throw .staysDumpable }
    guard reserve() else { throw .cannotLock }
  }

  /// Makes the first slab of each small size; false when one could not be locked.
  static func reserve() -> Bool { pool.withLock { $0.reserve() } }

  static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    if byteCount <= largestCell {
      return unsafe pool.withLock { pool in
        unsafe UnsafeSendable(pointer: pool.take(sizeClass(of: byteCount)))
      }.pointer
    }
    let mapping = map(byteCount: roundedToPages(byteCount))
    if !mapping.isLocked && byteCount <= lockedByteCountLimit { pool.withLock { $0.lockWasRefused = true } }
    return unsafe mapping.base
  }

  static func release(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    if byteCount <= largestCell {
      let size = sizeClass(of: byteCount)
      unsafe coffer_erase(base, smallestCell << size)
      let cell = unsafe UnsafeSendable(pointer: base)
      pool.withLock { unsafe $0.give(cell.pointer, size) }
    } else {
      unsafe unmap(base, byteCount: roundedToPages(byteCount))
    }
  }

  // MARK: Slabs of small cells

  @safe private struct Pool {
    var free: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: sizeClassCount)
    var lockWasRefused = false

    mutating func take(_ size: Int) -> UnsafeMutableRawPointer {
      if unsafe free[size].isEmpty { grow(size) }
      return unsafe free[size].removeLast()
    }

    mutating func give(_ cell: UnsafeMutableRawPointer, _ size: Int) {
      unsafe free[size].append(cell)
    }

    mutating func grow(_ size: Int) {
      let slab = map(byteCount: slabByteCount)
      if !slab.isLocked { lockWasRefused = true }
      let step = smallestCell << size
      for offset in stride(from: slabByteCount - step, through: 0, by: -step) {
        unsafe free[size].append(slab.base + offset)
      }
    }

    mutating func reserve() -> Bool {
      for size in 0..<sizeClassCount where unsafe free[size].isEmpty { grow(size) }
      return !lockWasRefused
    }
  }

  private static let pool = Mutex(Pool())

  /// Takes a cell past the lock. Sendable: outside of the lists a cell belongs to one `SecretBytes`.
  @safe private struct UnsafeSendable: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
  }

  private static func sizeClass(of byteCount: Int) -> Int {
    var size = 0
    while smallestCell << size < byteCount { size += 1 }
    return size
  }

  // MARK: Mappings

  @safe private struct Mapping {
    let base: UnsafeMutableRawPointer
    let isLocked: Bool
  }

  /// Zeroed pages between two guard pages.
  private static func map(byteCount: Int) -> Mapping {
    let whole = unsafe mmap(
      nil, byteCount + 2 * pageByteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    let base = unsafe whole.map { unsafe $0 + pageByteCount }
    // MAP_FAILED and its neighbour are no addresses, so the second call fails where the first has.
    let isUsable = unsafe mprotect(base, byteCount, PROT_READ | PROT_WRITE) == 0
    guard let base = unsafe base, isUsable else { preconditionFailure("out of memory for secrets") }
    let shouldLock = byteCount <= lockedByteCountLimit
    let isLocked = unsafe coffer_guard_pages(base, byteCount, shouldLock ? 1 : 0) == 0
    return unsafe Mapping(base: base, isLocked: isLocked)
  }

  private static func unmap(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe coffer_erase(base, byteCount)
    unsafe munmap(base - pageByteCount, byteCount + 2 * pageByteCount)
  }

  private static func roundedToPages(_ byteCount: Int) -> Int {
    (byteCount + pageByteCount - 1) & ~(pageByteCount - 1)
  }

  private static let pageByteCount = coffer_page_size()
  /// A key is 32 bytes; nothing smaller is worth a class of its own.
  private static let smallestCell = 32
  /// Sizes 32 to 4,096: above that a mapping's cost no longer matters.
  private static let sizeClassCount = 8
  private static let largestCell = smallestCell << (sizeClassCount - 1)
  /// Eight slabs, one a size, are 256 KiB: a thirtieth of the usual 8 MiB that a user may lock.
  private static let slabByteCount = 32 << 10
}

/// Why secrets cannot be kept safely in this process.
@nonexhaustive
public enum SecretMemoryError: Error, Equatable, Sendable {
  /// The process could not be made undumpable: another process of the same user could read its memory.
  case staysDumpable
  /// 256 KiB could not be locked against swapping (`ulimit -l` is too low).
  case cannotLock
}
