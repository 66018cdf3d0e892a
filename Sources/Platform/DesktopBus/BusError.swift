// SPDX-License-Identifier: Apache-2.0

/// The errors of the desktop's bus. They contain names of the protocol, never contents of messages.
@nonexhaustive
public enum BusError: Error, Equatable, Sendable {
  /// There is no bus at the address, or no address.
  case noBus
  /// The library that speaks to the bus is not installed, or is another one.
  case noLibrary
  /// The name has no owner and cannot be started, or its owner went away before it answered.
  case noService
  /// The bus or the service refuses us.
  case denied
  /// No answer in time. Whether the call had an effect is not known.
  case timedOut
  /// The connection is closed; a new one is needed.
  case disconnected
  /// The service answered with an error of this name, such as `net.reactivated.Fprint.Error.NoSuchDevice`.
  /// The text beside it is left out: it may hold anything.
  case remote(String)
  /// A message that D-Bus does not allow, or an answer of another shape than its interface fixes.
  case malformed
  /// The system has no memory or no descriptors left, or fails otherwise; an `errno` number.
  case system(Int32)
}
