// SPDX-License-Identifier: Apache-2.0
//
// The messages of the two processes, numbers least significant byte first:
//   request   "CPW1", what (1 byte), orientation (1), meaning (1), 0, longest side (4), file's bytes (8);
//             then the file
//   answer    "CPA1", status (1), 0 (3), width (4), height (4), content's bytes (8); then the content

internal import Secrets

/// A request for a picture of a photo or a depth map, or for the codes in a picture.
struct PictureRequest {
  enum Kind: UInt8 {
    case thumbnail = 1
    case raster = 2
    case depthRaster = 3
    case depthPNG = 4
    case codes = 5
  }

  let kind: Kind
  let longestSide: Int
  let orientation: PictureOrientation
  let meaning: DepthMap.Meaning

  init(
    _ kind: Kind, longestSide: Int, orientation: PictureOrientation = .upright,
    meaning: DepthMap.Meaning = .distance
  ) {
    self.kind = kind
    self.longestSide = longestSide
    self.orientation = orientation
    self.meaning = meaning
  }

  /// - Returns: the request, and how many bytes of the file follow it.
  static func read(_ bytes: RawSpan) -> (request: PictureRequest, fileByteCount: Int)? {
    guard bytes.byteCount == byteCount, bytes.bigEndian32(0) == mark,
      let kind = Kind(rawValue: bytes.byte(4)),
      let orientation = PictureOrientation(rawValue: bytes.byte(5)),
      let meaning = DepthMap.Meaning(rawValue: bytes.byte(6))
    else { return nil }
    let request = PictureRequest(
      kind, longestSide: Int(bytes.littleEndian(8, 4)), orientation: orientation, meaning: meaning)
    return Int(exactly: bytes.littleEndian(12, 8)).map { (request, $0) }
  }

  func bytes(fileByteCount: Int) -> [UInt8] {
    [UInt8](bigEndian: PictureRequest.mark) + [kind.rawValue, orientation.rawValue, meaning.rawValue, 0]
      + [UInt8](littleEndian: UInt64(longestSide), 4) + [UInt8](littleEndian: UInt64(fileByteCount), 8)
  }

  static let byteCount = 20
  /// "CPW1"
  private static let mark: UInt32 = 0x4350_5731
}

/// The answer to a request.
struct PictureAnswer: ~Copyable {
  /// Of a raster; else 0.
  let width: Int
  let height: Int
  let content: SecretBytes

  consuming func consumeContent() -> SecretBytes { content }

  static let headerByteCount = 24

  struct Header {
    var width = 0
    var height = 0
    var contentByteCount = 0

    init(width: Int, height: Int, contentByteCount: Int) {
      self.width = width
      self.height = height
      self.contentByteCount = contentByteCount
    }

    /// - Throws: the error that the other process answers; ``PictureError/crashed`` when its answer is
    ///   invalid, or longer than `most` bytes.
    init(_ bytes: RawSpan, most: Int) throws(PictureError) {
      guard bytes.bigEndian32(0) == Header.mark else { throw .crashed }
      let status = Int(bytes.byte(4))
      guard status == 0 else {
        guard status <= Header.errors.count else { throw .crashed }
        throw Header.errors[status - 1]
      }
      width = Int(bytes.littleEndian(8, 4))
      height = Int(bytes.littleEndian(12, 4))
      guard let count = Int(exactly: bytes.littleEndian(16, 8)), count <= most else { throw .crashed }
      contentByteCount = count
    }

    func bytes(_ error: PictureError? = nil) -> [UInt8] {
      // The other process has no errors without a number; the last number will do.
      let status = error.map { (Header.errors.firstIndex(of: $0) ?? Header.errors.count - 1) + 1 } ?? 0
      return [UInt8](bigEndian: Header.mark) + [UInt8(status), 0, 0, 0]
        + [UInt8](littleEndian: UInt64(width), 4) + [UInt8](littleEndian: UInt64(height), 4)
        + [UInt8](littleEndian: UInt64(contentByteCount), 8)
    }

    /// Their places, counted from one, are the statuses.
    private static let errors: [PictureError] = [
      .notAPicture, .tooLarge, .corrupt, .unknownFormat, .invalidSize, .encodingFailed, .noSandbox, .notBuilt,
      .noLibrary, .noCodeLibrary, .tooManyCodes, .crashed,
    ]
    /// "CPA1"
    private static let mark: UInt32 = 0x4350_4131
  }
}

extension [UInt8] {
  fileprivate init(bigEndian value: UInt32) {
    self = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  fileprivate init(littleEndian value: UInt64, _ count: Int) {
    self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

extension RawSpan {
  fileprivate func littleEndian(_ offset: Int, _ count: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(byte(offset + $1)) << (8 * $1) }
  }
}
