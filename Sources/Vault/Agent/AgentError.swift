// SPDX-License-Identifier: Apache-2.0

/// The errors of the agent and its clients. No case contains a secret or a path.
@nonexhaustive
public enum AgentError: Error, Equatable, Sendable {
  /// The agent does not hold the requested keys: the coffer was never unlocked, or was locked since.
  case locked
  /// The agent holds the keys of another coffer than the one asked about.
  case otherCoffer
  /// *give* needs both class keys.
  case missingKey
  /// No answer in time, or the connection was closed. A command goes on as if there were no agent.
  case notAnswering
  /// This process is an agent of the coffer, cannot be asked, and may have the keys.
  case unreachable(processID: Int32)
  /// An answer that the protocol does not allow.
  case malformedAnswer
  /// There is no such home.
  case noHome
  /// No folder for the socket that only this user can reach.
  case noRuntimeDirectory
  /// The socket's path is longer than the system allows.
  case pathTooLong
  /// Another agent serves this home.
  case alreadyServed
  /// A time limit is out of bounds.
  case limitOutOfBounds
  /// No page for the keys could be locked (`ulimit -l` is too low).
  case noLockedMemory
  /// The process could not be protected, so it takes no keys.
  case unprotected
  /// The agent that was started ended before it listened, with this exit code; nil after a signal.
  case startFailed(exitCode: Int32?)
  /// A system call failed; an `errno` number.
  case system(Int32)
}
