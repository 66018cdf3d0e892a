// SPDX-License-Identifier: Apache-2.0
//
// What can go wrong with a picture. No case carries anything of the picture.

/// Why there is no picture.
@nonexhaustive
public enum PictureError: Error, Equatable, Sendable {
  /// The bytes are neither JPEG nor PNG.
  case notAPicture
  /// The file, its dimensions or what it asks of the memory are above the limits of ``PictureLimits``.
  case tooLarge
  /// It begins like a picture and is damaged, or ends too early.
  case corrupt
  /// A picture, or a depth map, of a kind that is not read here: CMYK, a depth map in colour, and others.
  case unknownFormat
  /// The caller asked for a picture without pixels.
  case invalidSize
  /// The library refused to make a JPEG or a PNG.
  case encodingFailed
  /// The process that decodes died, or answered nonsense. A hostile picture can bring that about.
  case crashed
  /// The process that decodes took too long, and was ended.
  case timedOut
  /// The process that decodes could not be started.
  case cannotStart
  /// The system did not let the process that decodes give up its rights, so it read nothing.
  case noSandbox
  /// This build has no decoders: the package trait `Pictures` was off.
  case notBuilt
}
