// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Secrets

extension Failure {
  init(passphrase error: PassphraseError) {
    switch error {
    case .unreadable(.cannotOpen(ENOENT)):
      self.init(
        .usage, "no_passphrase", "there is no such file to read the passphrase from",
        hint: "look at --passphrase-file")
    case .unreadable:
      self.init(
        .usage, "no_passphrase", "the passphrase cannot be read",
        hint: "look at --passphrase-file and --passphrase-fd")
    case .empty: self.init(.refused, "weak_passphrase", "the passphrase is empty")
    case .tooLong:
      self.init(
        .refused, "bad_passphrase", "the passphrase is longer than \(Passphrase.byteCountLimit) bytes")
    case .notUTF8, .containsNUL: self.init(.refused, "bad_passphrase", "the passphrase is not text in UTF-8")
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
