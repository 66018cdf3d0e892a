// SPDX-License-Identifier: Apache-2.0
//
// The Exif fields that users ask for: when, where and with which camera a photo was taken. They are read from the
// stored photo when they are shown.

/// The fields of a photo's Exif data (CIPA DC-008) that a capture keeps. A field that is not there, or that
/// is not what the standard says, is nil.
public struct ExifFields: Equatable, Sendable {
  /// Who made the camera (`Make`).
  public var make: String?
  /// The camera (`Model`).
  public var model: String?
  /// Who made the lens (`LensMake`).
  public var lensMake: String?
  /// The lens (`LensModel`).
  public var lensModel: String?
  /// How the rows and columns lie, 1 to 8 (`Orientation`); 1 is upright.
  public var orientation: Int?
  /// When the photo was taken, by the camera's clock: `DateTimeOriginal`, else `DateTimeDigitized`, else
  /// `DateTime`, each with its own offset.
  public var time: ExifTime?
  /// How long the shutter was open, in seconds (`ExposureTime`).
  public var exposureSeconds: ExifRational?
  /// The aperture (`FNumber`).
  public var fNumber: ExifRational?
  /// The sensitivity (`PhotographicSensitivity`, or the field that replaces it from 65535 on).
  public var iso: Int?
  /// The focal length in millimetres (`FocalLength`).
  public var focalLengthMillimetres: ExifRational?
  /// Where the photo was taken.
  public var position: ExifPosition?
  /// When the position was found, in UTC (`GPSDateStamp`, `GPSTimeStamp`).
  public var positionTime: ExifTime?
  /// How many columns of pixels the picture has: from the frame of the JPEG file, else from Exif.
  public var pixelWidth: Int?
  /// How many rows of pixels the picture has.
  public var pixelHeight: Int?

  /// No field at all.
  public init() {}
}

/// A fraction as Exif stores it; the denominator is never zero.
public struct ExifRational: Equatable, Sendable {
  /// Above the line.
  public let numerator: UInt32
  /// Below the line, at least 1.
  public let denominator: UInt32

  /// Nil for a denominator of zero: Exif's way to write *unknown* and *infinite*.
  public init?(_ numerator: UInt32, _ denominator: UInt32) {
    guard denominator > 0 else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The value, to the nearest double.
  public var value: Double { Double(numerator) / Double(denominator) }
}

/// A place on the earth in WGS 84, or whatever the camera meant: the datum is not read.
public struct ExifPosition: Equatable, Sendable {
  /// Degrees, north positive, -90 to 90, rounded to 7 decimals (a centimetre).
  public var latitude: Double
  /// Degrees, east positive, -180 to 180, rounded to 7 decimals.
  public var longitude: Double
  /// Metres above the sea or the ellipsoid, rounded to millimetres.
  public var altitudeMetres: Double?

  /// A place; the values are taken as they are.
  public init(latitude: Double, longitude: Double, altitudeMetres: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitudeMetres = altitudeMetres
  }
}
