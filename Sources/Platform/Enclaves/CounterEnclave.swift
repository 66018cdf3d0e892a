// SPDX-License-Identifier: Apache-2.0
//
// Counters that reveal an old copy. A file can be put back to an earlier state with everything in it; a
// counter in a chip cannot.

public import Secrets

/// An enclave with counters that only go up. Neither the Secure Enclave nor software has them.
///
/// Without the authorization of a counter, nobody can read it, count it up, or answer in the chip's place.
/// The chip authenticates what it says of an existing counter. It does not authenticate that a counter is
/// missing (`EnclaveError.counterGone`): an attacker on the wire can claim that, and anybody who may use the
/// chip can delete counters. A new counter never starts at a value that an earlier one has had.
public protocol CounterEnclave: Enclave {
  /// Makes a counter, or finds the one of this authorization in the chip: if a call was interrupted before
  /// the caller stored the counter's reference, the next call finds that counter again. Either is counted up.
  ///
  /// - Parameter authorization: 32 bytes that nobody can guess, used for one counter only. The chip sees only
  ///   a value derived from them.
  /// - Returns: the counter and its value.
  /// - Throws: `EnclaveError.counterRefused` when the chip has no room, or its owner has a password; `.unavailable`,
  ///   `.noLibrary`, `.notAnswering`; `.invalidInput` for another number of bytes.
  func createCounter(authorization: SharedSecretBytes) throws(EnclaveError) -> (
    counter: ChipCounter, value: UInt64
  )

  /// Reads a counter.
  ///
  /// - Throws: `EnclaveError.counterGone`; `.otherChip` when the chip was cleared or replaced; `.unavailable`,
  ///   `.noLibrary`, `.notAnswering`; `.corrupt` when counter and authorization do not belong together.
  func counterValue(_ counter: ChipCounter, authorization: SharedSecretBytes) throws(EnclaveError) -> UInt64

  /// Counts up by one. After any error, read the value: the counter may have been counted up or not.
  ///
  /// - Returns: the new value.
  /// - Throws: as ``counterValue(_:authorization:)``.
  func incrementCounter(_ counter: ChipCounter, authorization: SharedSecretBytes) throws(EnclaveError)
    -> UInt64

  /// Deletes a counter. This takes the authorization of the chip's owner, not of the counter.
  ///
  /// - Throws: `EnclaveError.counterGone`, `.counterRefused` when the chip's owner has a password; `.otherChip`,
  ///   `.unavailable`, `.noLibrary`, `.notAnswering`.
  func deleteCounter(_ counter: ChipCounter) throws(EnclaveError)
}
