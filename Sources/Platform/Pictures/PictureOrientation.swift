// SPDX-License-Identifier: Apache-2.0

/// How stored rows and columns are to be turned to be looked at: the Exif tag Orientation (CIPA DC-008,
/// tag 0x0112).
public enum PictureOrientation: UInt8, CaseIterable, Sendable {
  /// As stored.
  case upright = 1
  /// Left and right exchanged.
  case mirrored = 2
  /// Half a turn.
  case upsideDown = 3
  /// Top and bottom exchanged.
  case flipped = 4
  /// Rows and columns exchanged.
  case transposed = 5
  /// To be turned by a quarter, clockwise.
  case quarterClockwise = 6
  /// Rows and columns exchanged, and half a turn.
  case transversed = 7
  /// To be turned by a quarter, counterclockwise.
  case quarterCounterclockwise = 8

  /// From the number in the tag; values that Exif reserves are taken as upright.
  public init(exif value: Int) {
    self = UInt8(exactly: value).flatMap(PictureOrientation.init(rawValue:)) ?? .upright
  }

  /// Whether width and height change places.
  var exchangesSides: Bool { rawValue >= 5 }
}
