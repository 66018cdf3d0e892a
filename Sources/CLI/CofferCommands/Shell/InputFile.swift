// SPDX-License-Identifier: Apache-2.0
//
// The file that a command reads whole into locked memory: what is in it may be secret, if only by mistake.

internal import Glibc
internal import MessageFormats
internal import Secrets

enum InputFile {
  /// Reads a file, or standard input for `-`.
  static func read(_ path: String, byteCountLimit: Int) throws(SecretReadError) -> SecretBytes {
    let files = CommandSurroundings.current.files
    if path == "-" {
      return try SecretBytes.read(
        fromDescriptor: files.inherited(STDIN_FILENO), byteCountLimit: byteCountLimit)
    }
    let descriptor = files.open(path)
    guard descriptor >= 0 else { throw .cannotOpen(errno: errno) }
    defer { close(descriptor) }
    return try SecretBytes.read(fromDescriptor: descriptor, byteCountLimit: byteCountLimit)
  }

  /// The same, with errors that name the file.
  /// - Parameter tooLong: what is thrown for more bytes than the limit.
  static func read(_ path: String, byteCountLimit: Int, tooLong: any Error) throws -> SecretBytes {
    do throws(SecretReadError) { return try read(path, byteCountLimit: byteCountLimit) } catch {
      switch error {
      case .tooLong: throw tooLong
      case .cannotOpen(EISDIR), .readFailed(EISDIR): throw Failure(cannotRead: path, EISDIR)
      case .cannotOpen(ENOENT): throw Failure(MessageFormatError.notFound, naming: path)
      case .cannotOpen(let code), .readFailed(let code):
        throw Failure(MessageFormatError.cannotRead(errno: code), naming: path)
      }
    }
  }
}
