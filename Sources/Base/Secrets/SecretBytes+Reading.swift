// SPDX-License-Identifier: Apache-2.0
//
// Reading a secret from a descriptor. The kernel writes straight into locked memory: no buffered stream
// and no array comes between.

internal import Glibc

extension SecretBytes {
  /// Reads to the end of `descriptor`, which stays open.
  ///
  /// - Parameters:
  ///   - descriptor: is read to its end and left open.
  ///   - byteCountLimit: more bytes than this are an error, and what was read is erased.
  /// - Throws: ``SecretReadError`` `.tooLong` or `.readFailed`.
  public static func read(
    fromDescriptor descriptor: Int32, byteCountLimit: Int
  ) throws(SecretReadError) -> SecretBytes {
    precondition(byteCountLimit >= 0, "a limit cannot be negative")
    var buffer = SecretBytes(zeroed: min(firstReadByteCount, byteCountLimit + 1))
    var filled = 0
    while true {
      if filled == buffer.count {
        guard filled <= byteCountLimit else { throw .tooLong(byteCountLimit: byteCountLimit) }
        // One byte more than the limit, to tell a secret that just fits from one that does not.
        buffer = buffer.enlarged(to: min(buffer.count * 2, byteCountLimit + 1))
      }
      let got = buffer.withMutableBytes { target in
        unsafe target.withUnsafeMutableBytes { raw in
          let free = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[filled...])
          return unsafe Glibc.read(descriptor, free.baseAddress, free.count)
        }
      }
      if got > 0 {
        filled += got
      } else if got == 0 {
        break
      } else if errno != EINTR {
        throw .readFailed(errno: errno)
      }
    }
    guard filled <= byteCountLimit else { throw .tooLong(byteCountLimit: byteCountLimit) }
    buffer.shorten(to: filled)
    // A short secret moves to a small cell instead of holding the first buffer for its whole life.
    return buffer.duplicate()
  }

  /// The same bytes followed by zeros; the old memory is erased.
  private consuming func enlarged(to newCount: Int) -> SecretBytes {
    var larger = SecretBytes(zeroed: newCount)
    withBytes { source in
      larger.withMutableBytes { target in
        unsafe source.withUnsafeBytes { from in
          unsafe target.withUnsafeMutableBytes { unsafe $0.copyMemory(from: from) }
        }
      }
    }
    return larger
  }

  /// A page: every passphrase and every key fits, so growing is the exception.
  private static var firstReadByteCount: Int { 4096 }
}

/// Why a secret could not be read.
@nonexhaustive
public enum SecretReadError: Error, Equatable, Sendable {
  /// There were more bytes than allowed.
  case tooLong(byteCountLimit: Int)
  /// The file could not be opened.
  case cannotOpen(errno: Int32)
  /// The system refused to read on.
  case readFailed(errno: Int32)
}
