// SPDX-License-Identifier: Apache-2.0
//
// The one page that ever holds keys. It has two halves: one holds the class keys, the other receives the next
// ones, so that new keys are taken over without copying them. After them is the passcode of private keys, while there is
// one. Everything else is zero.

internal import CSystem
internal import Glibc

/// A page for two class keys between two guard pages. Belongs to one thread.
@safe
final class KeyPage {
  /// Keys by bits: 1 when unlocked, 2 after first unlock, 4 the passcode of private keys.
  private(set) var held: UInt8 = 0
  let memory: AgentStatus.KeyMemory

  private let base: UnsafeMutableRawPointer
  private let whole: UnsafeMutableRawPointer
  /// Which half holds the keys.
  private var half = 0

  /// - Parameter ordinary: avoids `memfd_secret`, which prevents hibernation.
  /// - Throws: `AgentError.noLockedMemory`.
  init(ordinary: Bool) throws(AgentError) {
    let size = Self.pageByteCount
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    guard let whole = unsafe mmap(nil, 3 * size, PROT_NONE, flags, -1, 0), unsafe whole != MAP_FAILED else {
      throw .system(errno)
    }
    let base = unsafe whole + size
    if !ordinary, unsafe Self.mapSecret(base) {
      memory = .secret
    } else {
      guard unsafe mprotect(base, size, PROT_READ | PROT_WRITE) == 0,
        unsafe coffer_guard_pages(base, size, 1) == 0
      else {
        unsafe munmap(whole, 3 * size)
        throw .noLockedMemory
      }
      memory = .locked
    }
    unsafe self.whole = whole
    unsafe self.base = base
  }

  deinit {
    unsafe coffer_erase(base, Self.passcodeOffset + AgentHeader.keyByteCount)
    unsafe munmap(whole, 3 * Self.pageByteCount)
  }

  /// Lends the half that holds nothing, to receive into. Call ``takeSpare()`` or ``eraseSpare()`` next.
  func withSpare<R>(_ body: (inout MutableRawSpan) -> R) -> R {
    var span = unsafe MutableRawSpan(
      _unsafeStart: base + offset(1 - half), byteCount: AgentHeader.keysByteCount)
    return body(&span)
  }

  /// The keys that were received take the place of those held, which are erased.
  func takeSpare() {
    unsafe coffer_erase(base + offset(half), AgentHeader.keysByteCount)
    half = 1 - half
    erase(AgentKeySelection.passcode)
    held = 3
  }

  /// The seconds that were received before a passcode, or alone.
  func spareSeconds() -> Int {
    withSpare { spare in
      (0..<AgentHeader.secondsByteCount).reduce(0) { seconds, place in
        unsafe seconds << 8 | Int(spare.unsafeLoad(fromByteOffset: place, as: UInt8.self))
      }
    }
  }

  /// The passcode that was received after its seconds takes the place of the one held.
  func takeSparePasscode() {
    unsafe (base + Self.passcodeOffset).copyMemory(
      from: base + offset(1 - half) + AgentHeader.secondsByteCount, byteCount: AgentHeader.keyByteCount)
    held |= AgentKeySelection.passcode
  }

  func eraseSpare() { unsafe coffer_erase(base + offset(1 - half), AgentHeader.keysByteCount) }

  /// Erases those of the keys held that are named.
  func erase(_ keys: UInt8) {
    if keys & 1 != 0 { unsafe coffer_erase(base + offset(half), AgentHeader.keyByteCount) }
    if keys & 2 != 0 {
      unsafe coffer_erase(base + offset(half) + AgentHeader.keyByteCount, AgentHeader.keyByteCount)
    }
    if keys & AgentKeySelection.passcode != 0 {
      unsafe coffer_erase(base + Self.passcodeOffset, AgentHeader.keyByteCount)
    }
    held &= ~keys
  }

  /// Lends those of the keys held that are wanted, in order, to send from.
  func withKeys<R>(_ wanted: UInt8, _ body: (RawSpan) -> R) -> R {
    let keys = held & wanted
    let start =
      wanted == AgentKeySelection.passcode
      ? Self.passcodeOffset : offset(half) + (keys & 1 != 0 ? 0 : AgentHeader.keyByteCount)
    let span = unsafe RawSpan(
      _unsafeStart: UnsafeRawPointer(base + start),
      byteCount: keys.nonzeroBitCount * AgentHeader.keyByteCount)
    return body(span)
  }

  private static let passcodeOffset = 2 * AgentHeader.keysByteCount

  private func offset(_ half: Int) -> Int { half * AgentHeader.keysByteCount }

  /// Puts a page of `memfd_secret` at `base`; false when the kernel has none.
  private static func mapSecret(_ base: UnsafeMutableRawPointer) -> Bool {
    let descriptor = coffer_memfd_secret()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard ftruncate(descriptor, pageByteCount) == 0 else { return false }
    let flags = MAP_SHARED | MAP_FIXED
    let mapped = unsafe mmap(base, pageByteCount, PROT_READ | PROT_WRITE, flags, descriptor, 0)
    guard unsafe mapped == base else { return false }
    // The page is made now, so that a limit is met here and not with the first key.
    unsafe base.storeBytes(of: 0, as: UInt8.self)
    return true
  }

  private static var pageByteCount: Int { coffer_page_size() }
}
