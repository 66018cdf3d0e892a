// SPDX-License-Identifier: Apache-2.0
//
// Colours for numbers. The control points are those of "plasma", which its authors gave to everybody
// (CC0): equal steps look equally large, and brightness rises all the way, so that it also works in grey
// and for people who see few colours. Like viridis, but with warm colours at the bright end.

/// From cold and dark to warm and bright.
public enum ColourScale {
  /// The colour at `share`, from 0 (dark blue) to 1 (yellow); what lies outside is taken to the nearer end.
  public static func colour(_ share: Double) -> RGB8 {
    let place = min(max(share, 0), 1) * Double(points.count - 1)
    let lower = min(Int(place), points.count - 2)
    let (from, to, part) = (points[lower], points[lower + 1], place - Double(lower))
    func between(_ first: UInt8, _ second: UInt8) -> UInt8 {
      UInt8((Double(first) + (Double(second) - Double(first)) * part).rounded())
    }
    return RGB8(
      between(from.red, to.red), between(from.green, to.green), between(from.blue, to.blue))
  }

  private static let points = [
    RGB8(0x0D, 0x08, 0x87), RGB8(0x46, 0x03, 0x9F), RGB8(0x72, 0x01, 0xA8), RGB8(0x9C, 0x17, 0x9E),
    RGB8(0xBD, 0x37, 0x86), RGB8(0xD8, 0x57, 0x6B), RGB8(0xED, 0x79, 0x53), RGB8(0xFB, 0x9F, 0x3A),
    RGB8(0xFD, 0xCA, 0x26), RGB8(0xF0, 0xF9, 0x21),
  ]
}
