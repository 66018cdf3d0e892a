// SPDX-License-Identifier: Apache-2.0

/// Why an enclave does not do what was asked. Each needs another reaction from the user.
@nonexhaustive
public enum EnclaveError: Error, Equatable, Sendable {
  /// There is no chip, or this user may not use it.
  case unavailable
  /// The chip, or the way to it, failed in the middle; whether the operation happened is not known.
  case notAnswering
  /// The library that talks to the chip is not installed, or is another one. There may be a chip, with keys.
  case noLibrary
  /// The wrong PIN or passphrase; the chip has counted it.
  case wrongPasscode
  /// Too many wrong tries: the chip refuses all. Seconds until it accepts the next one, if it says so.
  case lockedOut(secondsLeft: Int?)
  /// The chip was cleared or replaced, or the file is on another machine: the key is not of this chip.
  case otherChip
  /// The handle is not what was stored.
  case corrupt
  /// The handle is of another kind of enclave.
  case wrongKind
  /// The key is not for that use, or the point is not on the curve, or the digest is not one.
  case invalidInput
  /// The key asks for a passcode or a finger that was not offered.
  case authorizationRequired
  /// The finger's verifier is not the one that was enrolled, or refused.
  case biometryRefused
  /// The chip does not make or delete the counter: it has no room, its owner has a password, or its policy
  /// forbids it.
  case counterRefused
  /// The chip has no such counter: it was deleted, or another one is in its place.
  case counterGone
  /// The chip's owner has set a password, which this program does not ask for: the chip makes no keys. Whether those
  /// that it made before can be used is not known.
  case ownerPassword
  /// The chip does not do it now, as to spare its memory: it asks to try again later.
  case tryLater
  /// Any other answer; the chip's own code.
  case failed(code: UInt32)
}
