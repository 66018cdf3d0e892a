// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Secrets

extension Failure {
  /// - Parameters:
  ///   - what: what was being read, for the message.
  ///   - option: the common beginning of the options that give it, for the hint.
  ///   - file: where it was read from; nil for a descriptor or a prompt.
  init(
    passphrase error: PassphraseError, reading what: String = "passphrase", option: String = "--passphrase",
    file: String? = nil
  ) {
    switch error {
    case .unreadable(.cannotOpen(ENOENT)):
      let name = file.map { "there is no file '\($0)'" } ?? "there is no such file"
      self.init(.usage, "no_passphrase", "\(name) to read the \(what) from", hint: "check \(option)-file")
    case .unreadable:
      let place = file.map { " from '\($0)'" } ?? ""
      self.init(
        .usage, "no_passphrase", "the \(what) cannot be read\(place)",
        hint: file == nil ? "check \(option)-file and \(option)-fd" : "check \(option)-file")
    case .empty: self.init(.refused, "weak_passphrase", "the \(what) is empty")
    case .tooLong:
      self.init(
        .refused, "bad_passphrase", "the \(what) is longer than \(Passphrase.byteCountLimit) bytes")
    case .notOneLine:
      let place = file.map { " in '\($0)'" } ?? ""
      self.init(
        .refused, "bad_passphrase",
        "the \(what)\(place) has several lines or a control character, which nobody can type",
        hint: "write it on one line, which may end with a line feed")
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
