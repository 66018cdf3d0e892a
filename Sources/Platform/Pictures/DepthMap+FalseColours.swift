// SPDX-License-Identifier: Apache-2.0

extension DepthMap {
  /// The map in colours from ``ColourScale``: near is warm and bright, far is cold and dark, places that were
  /// not measured are black.
  ///
  /// Colours are spread over the values between the first and the last hundredth, so that one wrong
  /// measurement does not take all colours away from the rest.
  public borrowing func falseColours(
    _ meaning: Meaning = .distance
  ) throws(PictureError) -> Raster {
    let range = extent(meaning)
    let count = width * height
    return try Raster(width: width, height: height) { pixels in
      for index in 0..<count {
        let value = value(index)
        guard let range, DepthMap.isMeasured(value, meaning) else { continue }
        // As Double, since the difference of two floats may be infinite.
        let extent = Double(range.upperBound) - Double(range.lowerBound)
        let share = extent > 0 ? (Double(value) - Double(range.lowerBound)) / extent : 0.5
        let colour = ColourScale.colour(meaning == .nearness ? share : 1 - share)
        pixels.storeBytes(of: colour.red, toByteOffset: 3 * index, as: UInt8.self)
        pixels.storeBytes(of: colour.green, toByteOffset: 3 * index + 1, as: UInt8.self)
        pixels.storeBytes(of: colour.blue, toByteOffset: 3 * index + 2, as: UInt8.self)
      }
    }
  }

  /// From the first to the last hundredth of what was measured; `nil` when nothing was.
  private borrowing func extent(_ meaning: Meaning) -> ClosedRange<Float>? {
    let count = width * height
    let step = max(1, count / DepthMap.sampleCount)
    var samples: [Float] = []
    // Never grows, so that it leaves no copies behind.
    samples.reserveCapacity(count / step + 1)
    for index in stride(from: 0, to: count, by: step) {
      let value = value(index)
      if DepthMap.isMeasured(value, meaning) { samples.append(value) }
    }
    samples.sort()
    defer { for index in samples.indices { samples[index] = 0 } }
    guard let last = samples.indices.last else { return nil }
    return samples[last / 100]...samples[last - last / 100]
  }

  private static func isMeasured(_ value: Float, _ meaning: Meaning) -> Bool {
    value.isFinite && (meaning == .nearness || value > 0)
  }

  /// Values that are looked at to find the extent: a hundredth of them is still hundreds.
  private static let sampleCount = 1 << 16
}

// Colours for numbers. The control points are those of "plasma", which its authors gave to everybody (CC0):
// equal steps look equally large, and brightness rises all the way, so that it also works in grey and with
// colour blindness. Like viridis, but with warm colours at the bright end.

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
