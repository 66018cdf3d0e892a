// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Primitives

/// Why an operation of the capture store failed.
@nonexhaustive
public enum CaptureError: Error, Equatable, Sendable {
  /// The capture key is missing although there are captures. It cannot be replaced.
  case encryptionKeyNotFound
  /// The class key is not available: unlock the coffer once first.
  case locked
  /// There is no capture with that id.
  case notFound
  /// A part of the capture is not on this device.
  case elsewhere
  /// A part is damaged; nil when it is not known which.
  case corrupt(CapturePart?)
  /// The signature or its key does not match the manifest; or the signer's names do not fit into a manifest.
  case badSignature
  /// This photo is already stored.
  case duplicate(of: CaptureID)
  /// A part is longer than it may be.
  case tooLarge(CapturePart, byteCountLimit: Int)
  /// Title, note or tags are longer than they may be.
  case labelTooLarge(byteCountLimit: Int)
  /// The metadata is not a JSON object.
  case malformedMetadata
  /// A file could not be read to its end, or changed while it was read.
  case cannotRead(CapturePart)
  /// A file of that name already exists; nothing is overwritten.
  case alreadyExists
  /// A file of an export could not be written.
  case cannotWrite(errno: Int32)
  /// The folder for an export is not there, or is not a folder.
  case noFolder
  /// The upload is not in a state that allows this: it has begun, has ended, or has to wait. Its present state.
  case uploadNotDue(UploadStatus)
  /// The operation was interrupted and has changed nothing.
  case interrupted

  /// Whether the disk is full or the quota is used up.
  public var isOutOfSpace: Bool {
    switch self {
    case .cannotWrite(let code): code == ENOSPC || code == EDQUOT
    default: false
    }
  }
}
