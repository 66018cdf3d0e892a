// SPDX-License-Identifier: Apache-2.0

/// Somebody who keeps something that was read from protected data, or depends on it (PD-23).
public protocol RelockParticipant: Sendable {
  /// Lets go of all of it. Protected data answer *locked* by then.
  /// - Throws: anything, when something may be left: then nothing opens again in this process.
  func relock() throws
}
