// SPDX-License-Identifier: Apache-2.0
//
// How the parent learns the secrets of this process: by write(2) out of the memory in which they live. No
// stream, no array and no string comes between, so that telling leaves nothing behind.
//
//   kind (1) ‖ bytes of the name (1) ‖ bytes of the secret (4, little-endian) ‖ name ‖ secret
//
// Kind 1 is a secret; kind 2, without name and secret, says that everything has been let go.

import Glibc
import Secrets

/// The way to the parent.
enum SecretReport {
  static func tell(_ name: StaticString, _ secret: RawSpan) {
    write(kind: 1, nameByteCount: name.utf8CodeUnitCount, secretByteCount: secret.byteCount)
    write(UnsafeRawPointer(name.utf8Start), name.utf8CodeUnitCount)
    secret.withUnsafeBytes { bytes in write(bytes.baseAddress, bytes.count) }
  }

  static func tell(_ name: StaticString, _ secret: borrowing SecretBytes) {
    secret.withBytes { tell(name, $0) }
  }

  static func tell(_ name: StaticString, _ secret: SharedSecretBytes) {
    secret.withBytes { tell(name, $0) }
  }

  static func tellReady() { write(kind: 2, nameByteCount: 0, secretByteCount: 0) }

  private static func write(kind: UInt8, nameByteCount: Int, secretByteCount: Int) {
    var head: InlineArray<6, UInt8> = [kind, UInt8(nameByteCount), 0, 0, 0, 0]
    for index in 0..<4 { head[2 + index] = UInt8(truncatingIfNeeded: secretByteCount >> (8 * index)) }
    head.span.bytes.withUnsafeBytes { write($0.baseAddress, $0.count) }
  }

  private static func write(_ start: UnsafeRawPointer?, _ byteCount: Int) {
    var written = 0
    while let start, written < byteCount {
      let count = Glibc.write(STDOUT_FILENO, start + written, byteCount - written)
      if count > 0 {
        written += count
      } else if errno != EINTR {
        // Nobody listens any more.
        exit(4)
      }
    }
  }
}
