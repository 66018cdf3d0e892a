// SPDX-License-Identifier: Apache-2.0

/// Why a security key gave no secret.
@nonexhaustive
public enum SecurityKeyError: Error, Equatable, Sendable {
  /// What a key lacks.
  public enum Shortcoming: Equatable, Sendable {
    /// The extension *hmac-secret*: it keeps no secrets.
    case secrets
    /// Neither a PIN is set, nor a finger enrolled: it cannot verify its user.
    case verification
  }

  /// No key is plugged in.
  case noKey
  /// Several keys are plugged in, and it is not clear which is meant.
  case several
  /// The system does not let this user open the key: `/dev/hidraw*` belongs to who sits at the machine.
  case notPermitted
  /// The key cannot be used for this.
  case unsuitable(Shortcoming)
  /// The key has a PIN and no finger: it needs the PIN.
  case pinRequired
  /// The PIN is wrong; the key has counted it. Nil when it did not say how many tries are left, or the PIN had a
  /// length that no key takes, which is not counted.
  case wrongPIN(triesLeft: Int?)
  /// Three wrong PINs in a row: the key takes no more until it was taken out and put in again.
  case mustBePluggedInAgain
  /// Too many wrong PINs: the key takes none ever again.
  case blocked
  /// The finger was not recognised.
  case wrongFinger
  /// The key takes no finger now: use its PIN.
  case fingerBlocked
  /// The key has none of the credentials.
  case otherKey
  /// The key has one of the credentials that a new one must not have.
  case alreadyEnrolled
  /// Nobody touched the key in time.
  case noTouch
  /// The key was taken out, or does not answer.
  case gone
  /// The ``SecurityKeyAttempt`` was cancelled.
  case cancelled
  /// The key's signature, flags or secret are not what they must be.
  case untrustworthy
  /// The library that speaks to keys is not installed, or is another one.
  case noLibrary
  /// Something else, with libfido2's or the key's number.
  case failed(code: Int32)
}
