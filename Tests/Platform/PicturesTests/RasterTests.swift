// SPDX-License-Identifier: Apache-2.0

import Pictures
import Testing

@Suite struct RasterTests {
  @Test(
    "A picture is turned as Exif says",
    arguments: zip(
      1...8,
      [
        ["rgb", "wky"], ["bgr", "ykw"], ["ykw", "bgr"], ["wky", "rgb"],
        ["rw", "gk", "by"], ["wr", "kg", "yb"], ["yb", "kg", "wr"], ["by", "gk", "rw"],
      ]))
  func orientations(value: Int, expected: [String]) throws {
    let raster = try Raster.drawn("rgb", "wky").oriented(PictureOrientation(exif: value))
    #expect(raster.letters() == expected)
  }

  @Test("An orientation that Exif does not know leaves the picture as it is", arguments: [-1, 0, 9, 300])
  func unknownOrientations(value: Int) { #expect(PictureOrientation(exif: value) == .upright) }

  @Test("A smaller picture has the means of the areas that its pixels cover")
  func areaMeans() throws {
    var raster = try Raster(width: 3, height: 2)
    raster.paint { x, y in RGB8(UInt8(60 * x), UInt8(100 * y), 30) }
    let small = try raster.fitted(width: 2, height: 2)
    #expect([small.width, small.height] == [2, 1])
    // The middle column belongs to both halves: (0 · 2 + 60) / 3, (60 + 120 · 2) / 3.
    #expect(small[0, 0] == RGB8(20, 50, 30))
    #expect(small[1, 0] == RGB8(100, 50, 30))
  }

  @Test("A smaller picture of one colour has that colour", arguments: [(7, 5), (64, 1), (1, 64), (999, 3)])
  func oneColour(width: Int, height: Int) throws {
    var raster = try Raster(width: width, height: height)
    raster.paint { _, _ in RGB8(255, 254, 1) }
    let small = try raster.fitted(width: 4, height: 4)
    #expect(small.width <= 4 && small.height <= 4)
    for y in 0..<small.height { for x in 0..<small.width { #expect(small[x, y] == RGB8(255, 254, 1)) } }
  }

  @Test("A picture that fits is not touched")
  func fits() throws {
    let raster = try Raster.drawn("rgb", "wky").fitted(width: 3, height: 100)
    #expect(raster.letters() == ["rgb", "wky"])
  }

  @Test(
    "A raster has a size within the limits",
    arguments: [(0, 1), (1, 0), (-1, 5)])
  func emptyRasters(width: Int, height: Int) {
    #expect(throws: PictureError.invalidSize) { _ = try Raster(width: width, height: height) }
  }

  @Test(
    "A raster has no more pixels than the limit", arguments: [(65_500, 65_500), (8001, 8000), (70_000, 1)])
  func hugeRasters(width: Int, height: Int) {
    #expect(throws: PictureError.tooLarge) { _ = try Raster(width: width, height: height) }
  }

  @Test("Nothing can be made to fit into nothing")
  func noRoom() {
    #expect(throws: PictureError.invalidSize) { _ = try Raster.drawn("r").fitted(width: 0, height: 5) }
  }
}
