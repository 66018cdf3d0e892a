// SPDX-License-Identifier: Apache-2.0
//
// Every exit code of `coffer`. Specs/cli.md promises them; which error leads to which is in Failures/.

/// The exit codes.
enum ExitCode: Int32, CaseIterable {
  case done = 0
  /// Wrong usage.
  case usage = 2
  /// Locked, or a prompt is needed and there is no way to ask.
  case locked = 3
  /// Wrong passphrase, PIN or phrase.
  case wrongSecret = 4
  /// Tampered or corrupt data.
  case corrupt = 5
  /// No such item, or no coffer here.
  case missing = 6
  /// Refused by policy.
  case refused = 7
  /// Not enough memory or disk for this to be safe.
  case noRoom = 8
  /// In use by another process, or already there.
  case inUse = 9
  /// Hardware or a service missing or not answering.
  case noHardware = 10
  /// The remote does not answer, or does not let us.
  case remote = 11
  /// Our bug.
  case bug = 70
  /// Interrupted by SIGINT, SIGTERM or SIGHUP; 128 + SIGINT, as shells have it.
  case interrupted = 130
}
