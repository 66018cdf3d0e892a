// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP

/// A new file that is meant to be given away, such as a public part. It appears when it is complete.
struct PublicFile {
  /// Writes all of it; once.
  let write: (_ content: [UInt8]) throws(OpenPGPError) -> Void

  /// Lets others read a file that was just written, as far as the umask lets them: output is for its owner alone at
  /// first. If that fails, it stays so.
  static func share(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // The mask can only be read by setting it; for that moment it is the strictest.
    let mask = umask(0o777)
    umask(mask)
    _ = fchmod(descriptor, 0o666 & ~mask)
  }
}
