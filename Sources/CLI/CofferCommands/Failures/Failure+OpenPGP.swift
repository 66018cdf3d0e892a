// SPDX-License-Identifier: Apache-2.0
//
// Errors of the OpenPGP engine. After a session key was found, every error of a message is one sentence: a difference
// would help an attacker who can try changed messages.

internal import Glibc
internal import OpenPGP

extension Failure {
  init(openPGP error: OpenPGPError) {
    switch error {
    case .inputOutput(let number): self.init(file: nil, number)
    case .inputChanged:
      self.init(
        .corrupt, "input_output", "the input was changed while it was read", hint: "nothing was written")
    case .malformed, .unsupported, .overLimit:
      self.init(.refused, "malformed", "this is not an OpenPGP message that can be read")
    case .refused(.noIntegrityProtection):
      self.init(
        .refused, "unprotected_message",
        "this message has no protection against changes; it may say what an attacker wants. It is not opened",
        hint: "the sender's program is very old or set up badly")
    case .notAuthentic, .refused, .noKeyFits: self = .decryptionFailed
    case .notEnoughMemory(let needed, let available):
      self.init(
        .noRoom, "not_enough_memory",
        "the password of this message needs \(ByteCount.text(needed)) of memory, and \(ByteCount.text(available)) "
          + "are available", hint: "close other programs and try again")
    case .notText: self.init(.refused, "malformed", "this is not text in UTF-8")
    case .noEncryptionKey: self.init(.usage, "usage", "nobody is named who could read it")
    case .keyIsLocked, .wrongPassword, .keyCannot, .internalFailure: self.init(unsorted: "OpenPGPError")
    }
  }

  /// The one answer to everything that is wrong with a message after its session key was found.
  static let decryptionFailed = Failure(
    .corrupt, "decryption_failed", "this message was changed or cut off on its way; nothing of it is shown",
    hint: "ask the sender to send it again")

  /// An error of a file that was written.
  /// - Parameter option: the option that names the file.
  init(openPGP error: OpenPGPError, writing path: String, option: String = "--output") {
    guard case .inputOutput(let number) = error else {
      self.init(openPGP: error)
      return
    }
    self.init(file: path, number, option: option)
  }

  /// A file that cannot be read.
  init(cannotRead path: String, _ number: Int32) {
    switch number {
    case ENOENT, ENOTDIR: self.init(.missing, "no_such_file", "there is no file '\(path)'")
    case EACCES, EPERM: self.init(.missing, "not_permitted", "'\(path)' cannot be read: permission denied")
    case EISDIR: self.init(.usage, "wrong_kind", "'\(path)' is a directory, not a file")
    default: self.init(.corrupt, "input_output", "'\(path)' cannot be read")
    }
  }

  private init(file path: String?, _ number: Int32, option: String = "--output") {
    let name = path.map { "'\($0)'" } ?? "a file"
    switch number {
    case EEXIST:
      self.init(
        .inUse, "already_exists", "\(name) already exists, and nothing is overwritten",
        hint: "\(option) NAME")
    case ENOSPC, EDQUOT: self.init(.noRoom, "full", "the disk is full", hint: Self.fullExportHint)
    case ENOENT, ENOTDIR: self.init(.missing, "no_such_file", "\(name): there is no such folder or file")
    case EACCES, EPERM, EROFS:
      self.init(.missing, "not_permitted", "\(name) cannot be read or written: permission denied")
    case EPIPE: self.init(.missing, "no_output", "nobody reads the output")
    case EINTR: self = .interrupted("nothing was written")
    case ENOTUNIQ: self = .usage("two of the files have the same name")
    case EINVAL:
      self = .usage("this has no name that an archive could give it", hint: "name the folder itself")
    default: self.init(.corrupt, "input_output", "\(name) cannot be read or written")
    }
  }
}
