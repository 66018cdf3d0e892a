// SPDX-License-Identifier: Apache-2.0
//
// The engine's errors as exit codes. Which code it is depends on what was being read or done.

internal import Glibc
internal import OpenPGP

/// What the engine was busy with.
enum Subject: String {
  case certificates, keys, signatures, message, document, armor, output
}

extension Failure {
  init(_ error: OpenPGPError, _ subject: Subject) {
    let told = Self.words(for: error, subject)
    self.init(told.exit, told.message, hint: told.hint, detail: "\(error)")
  }

  private static func words(for error: OpenPGPError, _ subject: Subject) -> Failure {
    switch error {
    // A message may be whole and the key that should open it broken.
    case .malformed(.secretKey): malformed(.keys)
    case .malformed: malformed(subject)
    case .unsupported(let what): unsupported(what, subject)
    case .refused(let rule): refused(rule, subject)
    // The checksum of a secret key that nothing protects.
    case .notAuthentic where subject == .keys: malformed(.keys)
    case .notAuthentic:
      Failure(
        .cannotDecrypt, "the message was changed on its way, or is incomplete",
        hint: "nothing of it was written; ask the sender for it again")
    case .noKeyFits:
      Failure(
        .cannotDecrypt, "no key, password or session key that was given opens the message",
        hint: "name the file of your secret key, or --with-password=FILE")
    case .keyIsLocked, .wrongPassword:
      Failure(
        .keyIsProtected, "a secret key is protected, and no password that was given opens it",
        hint: "--with-key-password=FILE")
    case .keyCannot(.sign): Failure(.keyCannotSign, "a secret key cannot sign")
    case .keyCannot(.certify): Failure(.keyCannotCertify, "a secret key cannot certify")
    case .keyCannot(.decrypt): Failure(.cannotDecrypt, "a secret key cannot decrypt")
    case .noEncryptionKey:
      Failure(
        .certificateCannotEncrypt, "a certificate has no key that may be encrypted to now",
        hint: "ask its holder for a newer one")
    case .notText:
      Failure(.expectedText, "the document is not text in UTF-8", hint: "--as=binary takes anything")
    case .notEnoughMemory:
      Failure(.unspecifiedFailure, "the protection by a password asks for more memory than there is")
    default: other(error, subject)
    }
  }

  private static func other(_ error: OpenPGPError, _ subject: Subject) -> Failure {
    switch error {
    // Lines without an end are of no armor.
    case .overLimit(.armorLine): malformed(subject)
    case .overLimit(let limit):
      Failure(.badData, "a limit of this command (\(limit)) is too low for the \(subject)")
    case .inputChanged:
      Failure(
        .badData, "somebody changed the input while it was read",
        hint: "do not use what came out; run the command again on a file that nobody writes to")
    // Inputs and outputs with a name have errors of their own.
    case .inputOutput(let number) where [ENOENT, ENOTDIR, EACCES, EPERM, EROFS].contains(number):
      Failure(
        .unspecifiedFailure, "cannot make a temporary file (\(SystemError.text(number)))",
        hint: "name a folder for it: TMPDIR=/var/tmp")
    case .inputOutput(let number):
      Failure(.unspecifiedFailure, "the system cannot read or write (\(SystemError.text(number)))")
    default: Failure(.unspecifiedFailure, "something happened that should not")
    }
  }

  private static func malformed(_ subject: Subject) -> Failure {
    switch subject {
    case .certificates: Failure(.badData, "a file of certificates is damaged, or is none")
    case .keys: Failure(.badData, "a file of secret keys is damaged, or is none")
    case .signatures: Failure(.badData, "the signatures are damaged, or are none")
    case .armor: Failure(.badData, "the armor is damaged, or is none")
    default: Failure(.badData, "the message is damaged, or is none", hint: "ask the sender for it again")
    }
  }

  private static func unsupported(_ what: OpenPGPError.Unsupported, _ subject: Subject) -> Failure {
    switch what {
    case .publicKeyAlgorithm, .curve:
      Failure(.unsupportedAsymmetricAlgorithm, "a public key algorithm is not supported")
    case .compressionAlgorithm:
      Failure(
        .badData, "the message is compressed in a way that is not supported",
        hint: "ask the sender not to compress")
    default: Failure(.badData, "the \(subject.rawValue) is of a kind that is not supported")
    }
  }

  private static func refused(_ rule: Policy.Rule, _ subject: Subject) -> Failure {
    let exit: ExitCode =
      switch subject {
      case .certificates: .certificateCannotEncrypt
      case .keys: .keyCannotSign
      case .message: .cannotDecrypt
      case .signatures: .noSignature
      case .document, .armor, .output: .unspecifiedFailure
      }
    return Failure(exit, "refused by policy: \(PolicyWords.text(rule))")
  }
}
