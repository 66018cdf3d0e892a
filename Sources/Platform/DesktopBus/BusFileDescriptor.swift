// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A descriptor that came in a message, such as logind's inhibitor lock: closed when the last reference goes.
public final class BusFileDescriptor: Sendable, Equatable {
  /// The number, valid while this object lives. It is not passed on to programs that are started.
  public let number: Int32

  /// - Parameter number: an open descriptor, which this object closes.
  public init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// The same object; two descriptors of one file are not equal.
  public static func == (left: BusFileDescriptor, right: BusFileDescriptor) -> Bool { left === right }
}
