// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that a user names by their number. Whoever looks at such a number late finds a file of the program's own
// behind it: the first one that is opened gets the lowest free number.

internal import Glibc

/// A descriptor that the program was started with. Make the value before anything is opened.
public struct InheritedDescriptor: Equatable, Sendable {
  /// What the descriptor must be open for.
  public enum Use: Sendable {
    /// It is read.
    case reading
    /// It is written.
    case writing
  }

  /// As the user named it.
  public let number: Int32
  /// A duplicate, which programs that are started do not get. It stays open until the process ends.
  public let duplicate: Int32

  /// Looks at a number; nil when no descriptor has it, or one that is not open for this use.
  public init?(_ number: Int32, for use: Use) {
    guard Self.isOpen(number, for: use) else { return nil }
    let duplicate = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    guard duplicate >= 0 else { return nil }
    (self.number, self.duplicate) = (number, duplicate)
  }

  /// Whether a descriptor has this number and is open for this use; for any use without one.
  public static func isOpen(_ number: Int32, for use: Use? = nil) -> Bool {
    guard number >= 0 else { return false }
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0 else { return false }
    return switch use {
    case .reading: flags & O_ACCMODE != O_WRONLY
    case .writing: flags & O_ACCMODE != O_RDONLY
    case nil: true
    }
  }

  public static func == (one: Self, other: Self) -> Bool { one.number == other.number }
}
