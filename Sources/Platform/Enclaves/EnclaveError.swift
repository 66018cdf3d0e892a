// SPDX-License-Identifier: Apache-2.0

/// Why an enclave does not do what was asked. Each needs another reaction from the user.
public enum EnclaveError: Error, Equatable, Sendable {
  /// There is no chip, or nobody may talk to it.
  case unavailable
  /// The chip, or the way to it, failed in the middle; nothing is known of what was under way.
  case notAnswering
  /// The wrong PIN or passphrase; the chip has counted it.
  case wrongPasscode
  /// Too many wrong tries: the chip refuses all. Seconds until it takes the next one, where it tells.
  case lockedOut(secondsLeft: Int?)
  /// The chip was cleared or replaced, or the file is on another machine: the key is not its own.
  case otherChip
  /// The handle is not what was stored.
  case corrupt
  /// The handle is of another kind of enclave.
  case wrongKind
  /// The key is not for that use, or the point is not on the curve, or the digest is not one.
  case invalidInput
  /// The key asks for a passcode or a finger, and none was offered, or the other.
  case authorizationRequired
  /// The finger's verifier is not the one that was enrolled, or refused.
  case biometryRefused
  /// The chip makes no counter, or deletes none: no room, an owner's password, a policy of its own.
  case counterRefused
  /// The chip has no such counter: it was deleted, or another one is in its place.
  case counterGone
  /// Any other answer; the chip's own code.
  case failed(code: UInt32)
}
