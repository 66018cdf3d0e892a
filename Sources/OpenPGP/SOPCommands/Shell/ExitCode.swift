// SPDX-License-Identifier: Apache-2.0
//
// Every exit code of the Stateless OpenPGP command line, by its number in the draft. The names are the
// draft's; a test compares the numbers with its table.

/// The exit codes.
enum ExitCode: Int32, CaseIterable {
  case ok = 0
  /// Anything that has no code of its own.
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
