// SPDX-License-Identifier: Apache-2.0
//
// Reads the fields from the beginning of a photo. Bad Exif data must not keep a photo from being stored, so nothing
// here throws: a field that is not well-formed is missing. At most three directories are read, each once: the
// first, and the two that it names.

extension ExifFields {
  /// How many bytes of a photo's beginning are enough: an Exif segment has at most 64 KiB and comes first;
  /// profiles and previews may come between it and the frame header.
  public static let headByteCount = 256 << 10

  /// Reads the fields from the beginning of a JPEG file, or from all of it.
  ///
  /// - Parameter photo: the first bytes; ``headByteCount`` of them do.
  /// - Returns: nil when this is not a JPEG file. Fields that are missing, of a wrong type, out of range or
  ///   beyond the end are nil.
  public init?(photo: RawSpan) {
    guard let header = JPEGHeader(photo) else { return nil }
    self.init()
    if let range = header.exif { readExif(photo.extracting(range)) }
    if let size = header.size, size.width > 0, size.height > 0 {
      pixelWidth = size.width
      pixelHeight = size.height
    }
  }

  private mutating func readExif(_ bytes: RawSpan) {
    guard let header = TIFFHeader(bytes),
      let first = TIFFDirectory(bytes, at: header.firstDirectory, header.order)
    else { return }
    func directory(_ tag: Int) -> TIFFDirectory? {
      first.integer(tag, bytes).flatMap { TIFFDirectory(bytes, at: $0, header.order) }
    }
    let exif = directory(Tag.exifDirectory)
    make = first.text(Tag.make, bytes)
    model = first.text(Tag.model, bytes)
    orientation = first.integer(Tag.orientation, bytes).flatMap { (1...8).contains($0) ? $0 : nil }
    time = Self.time(exif, Tag.dateTimeOriginal, exif, Tag.offsetTimeOriginal, bytes)
    time = time ?? Self.time(exif, Tag.dateTimeDigitized, exif, Tag.offsetTimeDigitized, bytes)
    time = time ?? Self.time(first, Tag.dateTime, exif, Tag.offsetTime, bytes)
    if let exif { readCamera(exif, bytes) }
    if let positioning = directory(Tag.positioningDirectory) { readPosition(positioning, bytes) }
  }

  private mutating func readCamera(_ exif: TIFFDirectory, _ bytes: RawSpan) {
    lensMake = exif.text(Tag.lensMake, bytes)
    lensModel = exif.text(Tag.lensModel, bytes)
    exposureSeconds = exif.rationals(Tag.exposureTime, count: 1, bytes)?.first
    fNumber = exif.rationals(Tag.fNumber, count: 1, bytes)?.first
    focalLengthMillimetres = exif.rationals(Tag.focalLength, count: 1, bytes)?.first
    iso = exif.integer(Tag.sensitivity, bytes)
    if iso == 65_535 {
      // More than 16 bits: the standard has wider fields beside it.
      iso =
        exif.integer(Tag.recommendedExposureIndex, bytes)
        ?? exif.integer(Tag.standardOutputSensitivity, bytes) ?? iso
    }
    if let width = exif.integer(Tag.pixelWidth, bytes), let height = exif.integer(Tag.pixelHeight, bytes),
      width > 0, height > 0
    {
      pixelWidth = width
      pixelHeight = height
    }
  }

  private mutating func readPosition(_ directory: TIFFDirectory, _ bytes: RawSpan) {
    if let latitude = Self.degrees(
      directory, Tag.latitude, Tag.latitudeReference, positive: "N", negative: "S", atMost: 90, bytes),
      let longitude = Self.degrees(
        directory, Tag.longitude, Tag.longitudeReference, positive: "E", negative: "W", atMost: 180, bytes)
    {
      position = ExifPosition(
        latitude: latitude, longitude: longitude, altitudeMetres: Self.altitude(directory, bytes))
    }
    if let clock = directory.rationals(Tag.positioningTime, count: 3, bytes),
      let date = directory.textBytes(Tag.positioningDate, bytes),
      let hour = Int(exactly: clock[0].value), let minute = Int(exactly: clock[1].value)
    {
      // A UInt32 over at least 1: the seconds fit into an integer.
      positionTime = ExifTime(date: date, hour: hour, minute: minute, second: Int(clock[2].value))
    }
  }

  private static func time(
    _ directory: TIFFDirectory?, _ tag: Int, _ offsetDirectory: TIFFDirectory?, _ offsetTag: Int,
    _ bytes: RawSpan
  ) -> ExifTime? {
    guard let text = directory?.textBytes(tag, bytes) else { return nil }
    return ExifTime(text, offset: offsetDirectory?.textBytes(offsetTag, bytes))
  }

  private static func degrees(
    _ directory: TIFFDirectory, _ tag: Int, _ referenceTag: Int, positive: Unicode.Scalar,
    negative: Unicode.Scalar, atMost limit: Double, _ bytes: RawSpan
  ) -> Double? {
    guard let reference = directory.textBytes(referenceTag, bytes), reference.count == 1,
      let parts = directory.rationals(tag, count: 3, bytes)
    else { return nil }
    let sum = parts[0].value + parts[1].value / 60 + parts[2].value / 3600
    let degrees = (sum * 1e7).rounded() / 1e7
    guard degrees <= limit else { return nil }
    switch reference[0] {
    case UInt8(ascii: positive): return degrees
    // Not the negative zero of the equator.
    case UInt8(ascii: negative): return degrees == 0 ? 0 : -degrees
    default: return nil
    }
  }

  private static func altitude(_ directory: TIFFDirectory, _ bytes: RawSpan) -> Double? {
    guard let metres = directory.rationals(Tag.altitude, count: 1, bytes)?.first else { return nil }
    let rounded = (metres.value * 1000).rounded() / 1000
    // Above (0, 2) or below (1, 3) the sea or the ellipsoid; above when nothing is said.
    switch directory.integer(Tag.altitudeReference, bytes) ?? 0 {
    case 0, 2: return rounded
    case 1, 3: return rounded == 0 ? 0 : -rounded
    default: return nil
    }
  }

  /// CIPA DC-008-2023, tables 4 to 8 and 15.
  private enum Tag {
    // The first directory
    static let make = 0x010F
    static let model = 0x0110
    static let orientation = 0x0112
    static let dateTime = 0x0132
    static let exifDirectory = 0x8769
    static let positioningDirectory = 0x8825
    // The Exif directory
    static let exposureTime = 0x829A
    static let fNumber = 0x829D
    static let sensitivity = 0x8827
    static let standardOutputSensitivity = 0x8831
    static let recommendedExposureIndex = 0x8832
    static let dateTimeOriginal = 0x9003
    static let dateTimeDigitized = 0x9004
    static let offsetTime = 0x9010
    static let offsetTimeOriginal = 0x9011
    static let offsetTimeDigitized = 0x9012
    static let focalLength = 0x920A
    static let pixelWidth = 0xA002
    static let pixelHeight = 0xA003
    static let lensMake = 0xA433
    static let lensModel = 0xA434
    // The positioning directory
    static let latitudeReference = 0x01
    static let latitude = 0x02
    static let longitudeReference = 0x03
    static let longitude = 0x04
    static let altitudeReference = 0x05
    static let altitude = 0x06
    static let positioningTime = 0x07
    static let positioningDate = 0x1D
  }
}
