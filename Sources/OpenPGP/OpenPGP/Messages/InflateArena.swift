// SPDX-License-Identifier: Apache-2.0

internal import CZlib
internal import Secrets

/// The memory of one zlib stream: taken from the beginning on, given back as a whole, erased.
@safe
final class InflateArena {
  private var memory = SecretBytes(zeroed: byteCount)
  private var used = 0

  /// Makes `stream` take its memory here.
  func serve(_ stream: UnsafeMutablePointer<z_stream>) {
    unsafe stream.pointee.opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe stream.pointee.zalloc = { arena, count, size in
      guard let arena = unsafe arena else { return nil }
      return unsafe Unmanaged<InflateArena>.fromOpaque(arena).takeUnretainedValue().take(
        Int(count) * Int(size))
    }
    unsafe stream.pointee.zfree = { _, _ in }
  }

  /// Nil when there is not enough: then zlib fails as it does without memory.
  private func take(_ count: Int) -> UnsafeMutableRawPointer? {
    guard count <= memory.count - used else { return nil }
    defer { used += (count + 15) & ~15 }
    return unsafe memory.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { unsafe $0.baseAddress.map { unsafe $0 + used } }
    }
  }

  /// zlib takes some 40 KiB to decompress: a window of 32 KiB and its tables.
  private static let byteCount = 64 << 10
}
