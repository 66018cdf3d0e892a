// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenPGP

/// Why something was not done with contacts. Protected data reports its own state, as `ProtectedDataError`.
@nonexhaustive
public enum ContactError: Error, Equatable, Sendable {
  /// No contact is meant.
  case unknown
  /// Several contacts are meant; which they are.
  case ambiguous([UUID])
  /// A few hexadecimal digits, which can be forged.
  case tooFewDigits
  /// There is a private key in what should be public parts.
  case privateKey
  /// What should be public parts is not; the engine's reason.
  case unreadable(OpenPGPError)
  /// A URL is not one of a public part; why.
  case url(PublicPartURLProblem)
  /// A certificate has more than `Contact.certificateByteCountLimit` bytes, reduced to its holder's statements.
  case certificateTooLarge
  /// The contacts together take more bytes than protected data holds, or there are too many.
  case full
  /// The contact has as many keys as one may have.
  case tooManyKeys
  /// The name is empty or too long, has control characters, or looks like an address or a fingerprint.
  case unfitName
  /// Another contact has this name.
  case nameTaken
  /// The contact has no key in use.
  case noKeyInUse
  /// Another process has changed the contact since it was looked at.
  case changedMeanwhile
  /// A stored certificate cannot be read, or is not that of its fingerprint.
  case corrupt
}
