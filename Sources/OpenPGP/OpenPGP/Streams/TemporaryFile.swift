// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Primitives

/// A file without a name, which is gone when the last that has it open goes.
final class TemporaryFile {
  let descriptor: Descriptor

  /// In `TMPDIR`, else in the directory for large temporary files.
  init() throws(OpenPGPError) {
    let directory = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/var/tmp"
    var number = unsafe open(directory, Self.unnamed | O_RDWR | O_EXCL | O_CLOEXEC, 0o600)
    if number < 0 {
      // Not every file system has files without names.
      let path = directory + "/.coffer-" + Hexadecimal.text(SystemRandom.publicBytes(count: 12))
      number = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard number >= 0, unsafe unlink(path) == 0 else { throw .inputOutput(errno: errno) }
    }
    descriptor = Descriptor(number: number)
  }

  deinit { close(descriptor.number) }

  /// O_TMPFILE, a macro that Swift does not import: a file without a name, in the folder that is opened.
  static let unnamed: Int32 = 0o20000000 | O_DIRECTORY
}
