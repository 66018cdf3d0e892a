// SPDX-License-Identifier: Apache-2.0
//
// Everything that can go wrong in this module. No case carries content; only `entry` carries a path, below
// the folder that the user named.

internal import Glibc

/// Why messages could not be read or written.
@nonexhaustive
public enum MessageFormatError: Error, Equatable, Sendable {
  /// There is nothing at the path.
  case notFound
  /// The path holds something of another kind, such as a file where a folder is wanted.
  case wrongKind
  /// The system refused to read; the value is `errno`.
  case cannotRead(errno: Int32)
  /// The system refused to write; the value is `errno`. See ``isOutOfSpace``.
  case cannotWrite(errno: Int32)
  /// The target exists already; an export never overwrites.
  case alreadyExists
  /// One message is larger than ``MessageLimits/messageByteCount``; the source can go on.
  /// `byteCount` is its size in the source's encoding.
  case messageTooLarge(byteCount: Int, limit: Int)
  /// Entry number `entry`, counted from one (JSON Lines: the line), violates the format. `what` is a fixed
  /// text. The source can go on with the next entry.
  case malformed(entry: Int, what: String)
  /// A title, tag, type or date is too long or too far for any format; the value names which.
  case metadataOutOfBounds(String)
  /// An error of one entry of a folder; the source can go on.
  indirect case entry(path: String, MessageFormatError)
  /// Folders in folders beyond ``MessageLimits/directoryDepth``.
  case tooDeep(limit: Int)
  /// A gzip file is damaged, or ends too early.
  case damagedCompression
  /// Reading was stopped from outside while it waited for input.
  case interrupted
  /// The identifier cannot be the name of a file.
  case unsuitableIdentifier
  /// The sink was finished already, or failed before.
  case finished

  /// Whether the error concerns one entry alone, and the source can go on after it.
  public var concernsOneEntry: Bool {
    switch self {
    case .messageTooLarge, .malformed, .metadataOutOfBounds, .entry: true
    default: false
    }
  }

  /// Whether the device is full or the owner's quota used up.
  public var isOutOfSpace: Bool {
    switch self {
    case .cannotWrite(let code): return code == ENOSPC || code == EDQUOT
    default: return false
    }
  }
}
