// SPDX-License-Identifier: Apache-2.0
//
// How far away everything in a photo is. Like the photo it is content, and is erased with the value.

internal import Secrets

/// A grid of depths, top row first. Places that were not measured hold a value that is not finite.
public struct DepthMap: ~Copyable, Sendable {
  /// The meaning of the numbers.
  public enum Meaning: UInt8, Sendable {
    /// The larger, the farther; zero or less was not measured.
    case distance = 0
    /// The larger, the nearer: disparity, or the reciprocal of a distance.
    case nearness = 1
  }

  /// Columns.
  public let width: Int
  /// Rows.
  public let height: Int
  private var values: SecretBytes

  /// A map from a closure, which is called for each value: rows from the top, each from the left.
  /// - Throws: ``PictureError/invalidSize``; ``PictureError/tooLarge`` over
  ///   ``PictureLimits/depthPixelCount`` values.
  public init(width: Int, height: Int, value: (_ index: Int) -> Float) throws(PictureError) {
    guard width > 0, height > 0 else { throw .invalidSize }
    guard width <= PictureLimits.sideLength, height <= PictureLimits.sideLength,
      width * height <= PictureLimits.depthPixelCount
    else { throw .tooLarge }
    self.width = width
    self.height = height
    values = SecretBytes(zeroed: width * height * MemoryLayout<Float>.size)
    values.withMutableBytes { bytes in
      for index in 0..<width * height {
        bytes.storeBytes(of: value(index), toByteOffset: index * MemoryLayout<Float>.size, as: Float.self)
      }
    }
  }

  /// Reads a grey PNG of 8 or 16 bits, or a grey PFM. For the decoder process only: others ask
  /// ``PictureWorker``.
  /// - Throws: ``PictureError/unknownFormat`` for every other kind of file.
  package static func read(_ file: RawSpan) throws(PictureError) -> DepthMap {
    guard file.byteCount <= PictureLimits.fileByteCount else { throw .tooLarge }
    if PortableFloatMap.recognises(file) { return try PortableFloatMap.read(file) }
    guard PNGChunks.recognises(file) else { throw .unknownFormat }
    #if Pictures
      return try PNGDecoder.depths(file)
    #else
      throw .notBuilt
    #endif
  }

  /// The value in column `x` and row `y`, counted from the top left corner.
  public subscript(x: Int, y: Int) -> Float {
    precondition(x >= 0 && x < width && y >= 0 && y < height, "outside the map")
    return value(y * width + x)
  }

  /// The value at a place counted as in ``init(width:height:value:)``.
  func value(_ index: Int) -> Float {
    values.withBytes { bytes in
      unsafe bytes.unsafeLoad(fromByteOffset: index * MemoryLayout<Float>.size, as: Float.self)
    }
  }
}
