// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Secrets

extension Failure {
  /// - Parameters:
  ///   - what: what was being read, for the message.
  ///   - option: the common beginning of the options that give it, for the hint.
  init(
    passphrase error: PassphraseError, reading what: String = "passphrase", option: String = "--passphrase"
  ) {
    switch error {
    case .unreadable(.cannotOpen(ENOENT)):
      self.init(
        .usage, "no_passphrase", "there is no such file to read the \(what) from",
        hint: "check \(option)-file")
    case .unreadable:
      self.init(
        .usage, "no_passphrase", "the \(what) cannot be read",
        hint: "check \(option)-file and \(option)-fd")
    case .empty: self.init(.refused, "weak_passphrase", "the \(what) is empty")
    case .tooLong:
      self.init(
        .refused, "bad_passphrase", "the \(what) is longer than \(Passphrase.byteCountLimit) bytes")
    case .notUTF8, .containsNUL: self.init(.refused, "bad_passphrase", "the \(what) is not text in UTF-8")
    }
  }

  init(memory error: SecretMemoryError) {
    switch error {
    case .cannotLock:
      self.init(
        .noRoom, "no_locked_memory", "the system lets this process lock too little memory",
        hint: "raise the limit: ulimit -l 8192")
    case .staysDumpable: self.init(unsorted: "\(type(of: error))")
    }
  }
}
