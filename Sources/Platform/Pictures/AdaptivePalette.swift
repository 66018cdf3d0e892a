// SPDX-License-Identifier: Apache-2.0
//
// The colours that show a picture best when it may have 256: median cut. All colours of the picture,
// rounded to five bits a channel, form one box; the box with the most to gain is cut in two at the median
// of its longest side, until there are enough; each box becomes the mean of its pixels.

internal import CSystem

/// At most 256 colours chosen for one picture.
struct AdaptivePalette: ~Copyable {
  /// At least one.
  private(set) var colours: [RGB8] = []
  private var indexOfBin = [UInt8](repeating: 0, count: binCount)

  init(of raster: borrowing Raster) {
    var histogram = [Sum](repeating: Sum(), count: AdaptivePalette.binCount)
    for y in 0..<raster.height {
      for x in 0..<raster.width {
        let colour = raster[x, y]
        histogram[AdaptivePalette.bin(colour)].add(colour)
      }
    }
    var bins = histogram.indices.filter { histogram[$0].count > 0 }
    var boxes = [Box(0..<bins.count, bins, histogram)]
    while boxes.count < AdaptivePalette.colourLimit {
      guard let largest = boxes.indices.max(by: { boxes[$0].gain < boxes[$1].gain }),
        boxes[largest].gain > 0
      else { break }
      let box = boxes[largest]
      bins[box.range].sort { (box.part($0), $0) < (box.part($1), $1) }
      let middle = AdaptivePalette.median(of: box, bins, histogram)
      boxes[largest] = Box(box.range.lowerBound..<middle, bins, histogram)
      boxes.append(Box(middle..<box.range.upperBound, bins, histogram))
    }
    for box in boxes {
      for bin in bins[box.range] { indexOfBin[bin] = UInt8(colours.count) }
      colours.append(bins[box.range].reduce(into: Sum()) { $0.add(histogram[$1]) }.mean)
    }
    unsafe histogram.withUnsafeMutableBytes { unsafe coffer_erase($0.baseAddress, $0.count) }
  }

  /// The index in ``colours`` that replaces a colour of the picture.
  func index(of colour: RGB8) -> UInt8 { indexOfBin[AdaptivePalette.bin(colour)] }

  /// Where the box's bins have half of its pixels; neither side is empty.
  private static func median(of box: Box, _ bins: [Int], _ histogram: [Sum]) -> Int {
    var count: UInt64 = 0
    for place in box.range {
      count += histogram[bins[place]].count
      if 2 * count >= box.count { return min(place + 1, box.range.upperBound - 1) }
    }
    return box.range.upperBound - 1
  }

  private static func bin(_ colour: RGB8) -> Int {
    Int(colour.red >> 3) << 10 | Int(colour.green >> 3) << 5 | Int(colour.blue >> 3)
  }

  /// The colours that every terminal with sixels has.
  static let colourLimit = 256
  private static let binCount = 1 << 15

  /// Pixels, added up.
  private struct Sum {
    var count: UInt64 = 0
    var (red, green, blue): (UInt64, UInt64, UInt64) = (0, 0, 0)

    mutating func add(_ colour: RGB8) {
      add(Sum(count: 1, red: UInt64(colour.red), green: UInt64(colour.green), blue: UInt64(colour.blue)))
    }

    mutating func add(_ other: Sum) {
      count += other.count
      red += other.red
      green += other.green
      blue += other.blue
    }

    var mean: RGB8 {
      func share(_ sum: UInt64) -> UInt8 { UInt8((sum + count / 2) / count) }
      return RGB8(share(red), share(green), share(blue))
    }
  }

  /// Bins that become one colour.
  private struct Box {
    let range: Range<Int>
    let count: UInt64
    /// Pixels times the longest side; 0 for a single bin.
    let gain: UInt64
    /// The position of the longest side's five bits in a bin's number.
    private let shift: Int

    init(_ range: Range<Int>, _ bins: [Int], _ histogram: [Sum]) {
      self.range = range
      count = bins[range].reduce(0) { $0 + histogram[$1].count }
      var (longest, shift) = (0, 0)
      for candidate in [5, 10, 0] {
        var (least, most) = (31, 0)
        for bin in bins[range] {
          let part = bin >> candidate & 31
          (least, most) = (min(least, part), max(most, part))
        }
        if most - least > longest { (longest, shift) = (most - least, candidate) }
      }
      self.shift = shift
      gain = count * UInt64(longest)
    }

    func part(_ bin: Int) -> Int { bin >> shift & 31 }
  }
}
