// SPDX-License-Identifier: Apache-2.0
//
// The hash of a file, piece by piece, on the caller's thread. A piece stays in the core's own cache
// between reading and hashing, so that reading costs a twentieth of hashing; a second thread that reads
// ahead costs more in waking it, and must wait for a free thread. The kernel reads ahead from the disk by
// itself. The piece is erased and not locked: its bytes are in a file anyway.

internal import CSystem
internal import Glibc

enum FileDigest {
  /// The memory that a hash takes, whatever the file's length.
  static let pieceByteCount = 256 << 10

  /// The SHA-256 of the file at `path`; symbolic links are followed, directories refused.
  static func sha256(path: String) throws(CryptoError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ENOENT || errno == ENOTDIR ? .fileNotFound : .fileReadError
    }
    defer { close(descriptor) }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)

    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 16)
    defer {
      if let base = piece.baseAddress { unsafe coffer_erase(base, piece.count) }
      unsafe piece.deallocate()
    }
    var hash = SHA256()
    while true {
      let count = unsafe read(descriptor, piece.baseAddress, piece.count)
      if count > 0 {
        hash.update(unsafe RawSpan(_unsafeBytes: piece).extracting(first: count))
      } else if count == 0 {
        return hash.finish()
      } else if errno != EINTR {
        throw .fileReadError
      }
    }
  }
}
