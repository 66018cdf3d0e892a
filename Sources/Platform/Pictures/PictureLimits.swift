// SPDX-License-Identifier: Apache-2.0

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
  /// Pixels of a thumbnail's longer side, at most: one that is larger is no thumbnail.
  public static let thumbnailSideLength = 1024
}
