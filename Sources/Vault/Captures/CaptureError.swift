// SPDX-License-Identifier: Apache-2.0

public import Primitives

/// Why the capture store does not do what was asked.
public enum CaptureError: Error, Equatable, Sendable {
  /// The capture key is gone although there are captures: nothing replaces it.
  case encryptionKeyNotFound
  /// The class key is not there: unlock once first.
  case locked
  /// No capture of that id.
  case notFound
  /// A part is not what was captured; nil when it cannot be told which.
  case corrupt(CapturePart?)
  /// The signature, or the key it names, does not fit the manifest; or what the signer says of itself does not
  /// fit into one.
  case badSignature
  /// This photo is there already.
  case duplicate(of: CaptureID)
  /// A part is longer than it may be.
  case tooLarge(CapturePart, byteCountLimit: Int)
  /// The metadata are not a JSON object.
  case malformedMetadata
  /// A file that was to be captured could not be read to its end, or changed meanwhile.
  case cannotRead(CapturePart)
  /// A file of that name is there already: an export overwrites nothing.
  case alreadyExists
  /// A file of an export could not be written.
  case cannotWrite(errno: Int32)
  /// Somebody wanted the work to end; nothing of it is kept.
  case interrupted
}
