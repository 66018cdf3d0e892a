// SPDX-License-Identifier: Apache-2.0

internal import GnuPG

extension Failure {
  init(gnupg error: GnuPGError) {
    switch error {
    case .missing:
      self.init(
        .noHardware, "no_gpg", "GnuPG is not installed here, or not where it is looked for",
        hint: "--gpg PATH names the program")
    case .tooOld(let version):
      self.init(
        .noHardware, "no_gpg",
        version.map { "GnuPG \($0) is too old: 2.1 is the first that can give out private keys" }
          ?? "this program is not GnuPG", hint: "--gpg PATH names another one")
    case .noHome(let path):
      self.init(
        .missing, "no_such_file", "'\(path)' is not there, so GnuPG has no keys",
        hint: "--homedir DIR names another folder")
    case .notAnswering:
      self.init(
        .noHardware, "gpg_not_answering", "GnuPG did not answer in time, and was ended",
        hint: "'gpgconf --kill all' ends its agents")
    case .notUnderstood, .tooLong:
      self.init(.noHardware, "gpg_failed", "GnuPG's answer cannot be understood")
    case .passphraseNeeded, .wrongPassphrase, .loopbackForbidden, .cancelled, .failed:
      self.init(
        .noHardware, "gpg_failed", "GnuPG has refused", hint: "'gpg --list-secret-keys' may say why")
    }
  }
}
