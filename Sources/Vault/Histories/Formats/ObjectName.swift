// SPDX-License-Identifier: Apache-2.0
//
// The names of objects below the remote's prefix. The account's own folder is not part of them.

/// An object on the remote.
public enum ObjectName: Hashable, Comparable, Sendable {
  /// A marker that an account is here; not believed.
  case format
  case slot(ObjectHash)
  case control(number: UInt64, ObjectHash)
  case segment(SegmentName)
  case pack(DeviceID, ObjectHash)
  case request(RequestID)
}

/// A part of the remote that is listed at once.
public enum Folder: Hashable, Comparable, Sendable {
  case slots
  case control
  /// 512 segments of a chain.
  case block(DeviceID, UInt64)
  case packs(DeviceID)
  case requests

  /// Segments in a block of a chain.
  public static let segmentsPerBlock: UInt64 = 512
}
