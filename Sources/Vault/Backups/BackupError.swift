// SPDX-License-Identifier: Apache-2.0

/// Why a backup could not be written, read or restored. No case carries content or a path.
@nonexhaustive
public enum BackupError: Error, Equatable, Sendable {
  /// The file is not a backup: it begins otherwise, or is too short for one.
  case notABackup
  /// A backup of a later version of the format.
  case unknownVersion(UInt8)
  /// The file is not what was written: changed, cut off, or put together from several.
  case damaged
  /// The disk has too little room, in bytes; nothing was written.
  case noRoom(needed: Int, free: Int)
  /// The caller stopped the work; nothing was left.
  case stopped
  /// The coffer changed each time while it was read.
  case changing
  /// The file cannot be read or written, for this reason of the system.
  case system(errno: Int32)
}
