// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import OpenPGP

/// A new file that is meant to be given away, such as a public part. It appears when it is complete.
struct PublicFile {
  /// Writes all of it; once.
  let write: (_ content: [UInt8]) throws(OpenPGPError) -> Void

  /// Lets others read a file that was just written, as far as the umask lets them: output is for its owner alone at
  /// first. If that fails, it stays so.
  static func share(_ path: String) {
    guard let mask else { return }
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // The calls of the C library read it by setting it, under which files of other threads would suffer.
    _ = fchmod(descriptor, 0o666 & ~mask)
  }

  /// The umask of this thread, as the kernel shows it; nil where it does not.
  private static var mask: mode_t? {
    let status = try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("Umask:") }
    return line.flatMap { mode_t($0.dropFirst(6).trimmingPrefix { $0 == "\t" }, radix: 8) }
  }
}
