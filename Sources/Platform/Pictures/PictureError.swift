// SPDX-License-Identifier: Apache-2.0
//
// The errors and limits of pictures. No case contains anything of the picture.

/// Why there is no picture.
@nonexhaustive
public enum PictureError: Error, Equatable, Sendable {
  /// The bytes are neither JPEG nor PNG.
  case notAPicture
  /// The file, its dimensions or the memory that it needs are above the limits of ``PictureLimits``.
  case tooLarge
  /// It begins like a picture and is damaged, or ends too early.
  case corrupt
  /// A picture, or a depth map, of a kind that is not read here: CMYK, a depth map in colour, and others.
  case unknownFormat
  /// The caller asked for a picture without pixels.
  case invalidSize
  /// The library refused to make a JPEG or a PNG.
  case encodingFailed
  /// The decoder process died, or its answer was invalid. A hostile picture can bring that about.
  case crashed
  /// The decoder process took too long, and was ended.
  case timedOut
  /// The decoder process could not be started.
  case cannotStart
  /// The system did not let the decoder process give up its rights, so it read nothing.
  case noSandbox
  /// This build has no decoders: the package trait `Pictures` was off.
  case notBuilt
  /// The library that decodes pictures or makes codes is not installed, or is another one.
  case noLibrary
  /// The library that finds codes in pictures is not installed, or is another one.
  case noCodeLibrary
  /// A picture has more codes than ``PictureLimits/codeCount``.
  case tooManyCodes
}

/// How large a picture may be. All limits hold before memory is taken.
public enum PictureLimits {
  /// Bytes of a photo's file: a PNG of 12 million pixels with 16 bits a channel has 72 MB.
  public static let fileByteCount = 128 << 20
  /// Pixels of a photo, as its header says. Phones make 48 million, few cameras more than 100 million; the
  /// decoder's address space is sized for this.
  public static let photoPixelCount = 100_000_000
  /// Pixels of a ``Raster``: 192 MB. A JPEG with more is decoded at a smaller scale.
  public static let rasterPixelCount = 64_000_000
  /// Columns or rows of anything, which is what libjpeg can do (JPEG_MAX_DIMENSION).
  public static let sideLength = 65_500
  /// Pixels of a depth map; those of phones have fewer than one million.
  public static let depthPixelCount = 16_000_000
  /// Bytes of a thumbnail. With 320 pixels a side, they rarely reach 64 KiB.
  public static let thumbnailByteCount = 1 << 20
  /// Pixels of a thumbnail's longer side, at most: a larger one is not accepted as a thumbnail.
  public static let thumbnailSideLength = 1024
  /// Pixels of a picture in which codes are looked for. That takes a second for every ten million.
  public static let codePixelCount = 40_000_000
  /// Different codes in one picture.
  public static let codeCount = 32
  /// Bytes of a code's text: a code holds 7,089 digits, or fewer of anything else.
  public static let codeByteCount = 7_089
}
