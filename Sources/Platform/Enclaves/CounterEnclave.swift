// SPDX-License-Identifier: Apache-2.0
//
// Counters that outlive every file. A file can be put back to an earlier state with everything in it; a
// counter in a chip cannot, so it tells.

public import Secrets

/// An enclave with counters that only go up. A Secure Enclave has none, and neither has software.
///
/// Whoever does not have the authorization of a counter can neither read it nor count it up, and cannot answer
/// in the chip's place. What the chip says of a counter that is there is authenticated; that there is none,
/// `EnclaveError.counterGone`, is not: whoever sits between can say so, and whoever may use the chip can delete
/// any counter. No counter that is made later ever has a value that an earlier one has had.
public protocol CounterEnclave: Enclave {
  /// Makes a counter, or finds the one that this authorization has in the chip: what an interruption left
  /// before its name was kept is taken up by the next call. Either is counted up.
  ///
  /// - Parameter authorization: 32 bytes that nobody can guess; one counter's alone. The chip sees only what is
  ///   derived from them.
  /// - Returns: the counter and its value.
  /// - Throws: `EnclaveError.counterRefused` when the chip has no room, or its owner has a password; `.unavailable`,
  ///   `.notAnswering`; `.invalidInput` for another number of bytes.
  func createCounter(authorization: SharedSecretBytes) throws(EnclaveError) -> (
    counter: ChipCounter, value: UInt64
  )

  /// Reads a counter.
  ///
  /// - Throws: `EnclaveError.counterGone`; `.otherChip` when the chip was cleared or replaced; `.unavailable`,
  ///   `.notAnswering`; `.corrupt` when counter and authorization do not belong together.
  func counterValue(_ counter: ChipCounter, authorization: SharedSecretBytes) throws(EnclaveError) -> UInt64

  /// Counts up by one. After any error the counter may be up or not: ask for its value.
  ///
  /// - Returns: the new value.
  /// - Throws: as ``counterValue(_:authorization:)``.
  func incrementCounter(_ counter: ChipCounter, authorization: SharedSecretBytes) throws(EnclaveError)
    -> UInt64

  /// Deletes a counter. A chip asks for its owner's leave, not for the counter's authorization.
  ///
  /// - Throws: `EnclaveError.counterGone`, `.counterRefused` when the chip's owner has a password; `.otherChip`,
  ///   `.unavailable`, `.notAnswering`.
  func deleteCounter(_ counter: ChipCounter) throws(EnclaveError)
}
