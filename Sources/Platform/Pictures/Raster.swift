// SPDX-License-Identifier: Apache-2.0
//
// Pixels. They are content, so they lie in memory that is erased when the raster goes, and cannot be
// copied by accident.

internal import Secrets

/// A picture as rows of pixels, top row first: red, green, blue, one byte each in sRGB, without gaps.
public struct Raster: ~Copyable, Sendable {
  /// Columns.
  public let width: Int
  /// Rows.
  public let height: Int
  private var pixels: SecretBytes

  /// A black picture.
  /// - Throws: ``PictureError/invalidSize``; ``PictureError/tooLarge`` over
  ///   ``PictureLimits/rasterPixelCount`` pixels.
  public init(width: Int, height: Int) throws(PictureError) {
    pixels = SecretBytes(zeroed: try Raster.byteCount(width: width, height: height))
    self.width = width
    self.height = height
  }

  /// A picture of `width` × `height` whose `3 · width · height` bytes are written by `fill`.
  /// - Throws: as ``init(width:height:)``, and what `fill` throws.
  public init(
    width: Int, height: Int, filledBy fill: (inout MutableRawSpan) throws(PictureError) -> Void
  ) throws(PictureError) {
    pixels = try SecretBytes(byteCount: try Raster.byteCount(width: width, height: height), filledBy: fill)
    self.width = width
    self.height = height
  }

  /// `pixels` has `3 · width · height` bytes.
  init(width: Int, height: Int, pixels: consuming SecretBytes) {
    precondition(pixels.count == 3 * width * height, "three bytes a pixel")
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// Lends the `3 · width · height` bytes.
  public borrowing func withPixels<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try pixels.withBytes(body)
  }

  /// Lends the `3 · width · height` bytes for writing.
  public mutating func withMutablePixels<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    try pixels.withMutableBytes(body)
  }

  /// The colour in column `x` and row `y`, counted from the top left corner.
  public subscript(x: Int, y: Int) -> RGB8 {
    precondition(x >= 0 && x < width && y >= 0 && y < height, "outside the picture")
    let at = 3 * (y * width + x)
    return pixels.withBytes { bytes in
      RGB8(bytes.byte(at), bytes.byte(at + 1), bytes.byte(at + 2))
    }
  }

  /// How many bytes such a raster has.
  static func byteCount(width: Int, height: Int) throws(PictureError) -> Int {
    guard width > 0, height > 0 else { throw .invalidSize }
    guard width <= PictureLimits.sideLength, height <= PictureLimits.sideLength,
      width * height <= PictureLimits.rasterPixelCount
    else { throw .tooLarge }
    return 3 * width * height
  }
}

extension RawSpan {
  /// The byte at an offset, checked.
  func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

/// A colour in sRGB, eight bits a channel.
public struct RGB8: Equatable, Sendable {
  /// Red, 0 to 255.
  public var red: UInt8
  /// Green, 0 to 255.
  public var green: UInt8
  /// Blue, 0 to 255.
  public var blue: UInt8

  /// A colour from its three channels, each 0 to 255.
  public init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }
}
