// SPDX-License-Identifier: Apache-2.0
//
// Why a subcommand ends: every exit code of the Stateless OpenPGP command line, by its name and number in the
// draft (a test compares the numbers with its table), and the engine's errors and the policy's rules in
// words. Which code an error gets depends on what was being read or done.

internal import Glibc
internal import OpenPGP

/// Why a subcommand ends, as it is told on standard error.
struct Failure: Error, Equatable {
  let exit: ExitCode
  /// The fault: lower case, no full stop, nothing of keys, certificates or messages.
  let message: String
  /// The safe next step.
  let hint: String?
  /// For `--debug`: the engine's own word.
  var detail: String?

  init(_ exit: ExitCode, _ message: String, hint: String? = nil, detail: String? = nil) {
    self.exit = exit
    self.message = message
    self.hint = hint
    self.detail = detail
  }
}

/// The exit codes.
enum ExitCode: Int32, CaseIterable {
  case ok = 0
  /// Anything without a code of its own.
  case unspecifiedFailure = 1
  /// No signature that was acceptable.
  case noSignature = 3
  case unsupportedAsymmetricAlgorithm = 13
  case certificateCannotEncrypt = 17
  case missingArgument = 19
  /// `--verifications-out` without `--verify-with`, or the reverse.
  case incompleteVerification = 23
  case cannotDecrypt = 29
  case passwordNotHumanReadable = 31
  case unsupportedOption = 37
  case badData = 41
  case expectedText = 53
  case outputExists = 59
  case missingInput = 61
  case keyIsProtected = 67
  case unsupportedSubcommand = 69
  case unsupportedSpecialPrefix = 71
  case ambiguousInput = 73
  case keyCannotSign = 79
  case incompatibleOptions = 83
  case unsupportedProfile = 89
  case noHardwareKeyFound = 97
  case hardwareKeyFailure = 101
  case primaryKeyBad = 103
  case certificateUserIDNoMatch = 107
  case keyCannotCertify = 109
}

/// The input or output on which the engine failed.
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
    default: Failure(.unspecifiedFailure, "internal error")
    }
  }

  private static func malformed(_ subject: Subject) -> Failure {
    switch subject {
    case .certificates: Failure(.badData, "a file of certificates is damaged, or is not one")
    case .keys: Failure(.badData, "a file of secret keys is damaged, or is not one")
    case .signatures: Failure(.badData, "the signatures are damaged, or are not signatures")
    case .armor: Failure(.badData, "the armor is damaged, or is not armor")
    default: Failure(.badData, "not an OpenPGP message, or damaged", hint: "ask the sender for it again")
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
    case .symmetricAlgorithm where subject == .message:
      Failure(.cannotDecrypt, "the message is encrypted by a cipher that is not supported")
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

/// The rules of the policy in words.
enum PolicyWords {
  static func text(_ rule: Policy.Rule) -> String {
    switch rule {
    case .hashAlgorithm: "the hash algorithm is too weak"
    case .publicKeyAlgorithm: "the public key algorithm is too weak, or not supported"
    case .keySize(let bitCount): "a key of \(bitCount) bits is too small"
    case .publicExponent: "the public exponent of the RSA key hides nothing"
    case .symmetricAlgorithm: "the cipher is too weak"
    case .noIntegrityProtection: "the message is not protected against changes"
    case .versionMismatch: "versions do not belong together"
    case .criticalSubpacket: "something critical is not known"
    case .issuerMissing: "the signature does not say whose key made it"
    case .tooManySalts: "there are too many signatures with salts of their own"
    case .signatureType: "a signature is of the wrong type"
    case .keyFlags: "the key is not for this use"
    case .signatureExpired: "the signature has expired"
    case .signatureFromTheFuture: "the signature is from the future"
    case .outsideRequestedTime: "the signature is outside the time that was asked for"
    case .notIntendedRecipient: "the message was meant for somebody else"
    case .creationTimeMissing: "the signature does not say when it was made"
    case .signatureOlderThanKey: "the signature is older than its key"
    case .keyExpired: "the key had expired"
    case .keyNotBound: "no valid signature of the holder binds the key to the certificate"
    }
  }
}

/// Errors of the system in words.
enum SystemError {
  /// The system's sentence for a number, in lower case.
  static func text(_ number: Int32) -> String {
    guard let sentence = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: sentence).lowercased()
  }
}
