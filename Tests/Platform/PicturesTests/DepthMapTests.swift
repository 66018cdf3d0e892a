// SPDX-License-Identifier: Apache-2.0

import Pictures
import Testing

@Suite struct DepthMapTests {
  @Test("A PFM is read in both byte orders, bottom row first", arguments: [true, false])
  func pfm(isLittleEndian: Bool) throws {
    let file = Fixture.pfm([[1, 2.5, 3], [-4, .infinity, 1e30]], isLittleEndian: isLittleEndian)
    let map = try DepthMap.read(file)
    #expect([map.width, map.height] == [3, 2])
    #expect(
      [map[0, 0], map[1, 0], map[2, 0], map[0, 1], map[1, 1], map[2, 1]] == [1, 2.5, 3, -4, .infinity, 1e30])
  }

  @Test(
    "Other formats are named as not known",
    arguments: ["PF\n1 1\n-1.0\n", "II*\u{0}", "v/1\u{1}", "P5\n1 1\n255\n", ""])
  func otherFormats(text: String) {
    #expect(throws: PictureError.unknownFormat) { _ = try DepthMap.read(Array(text.utf8)) }
  }

  @Test(
    "A damaged PFM is corrupt",
    arguments: [
      "Pf\n", "Pf\n1 1\n", "Pf\n1 1\n-1.0", "Pf\n1 1\n-1.0\nabc", "Pf\n0 1\n1\nabcd", "Pf\n-1 -1\n1\nabcd",
      "Pf\n1 1\n0\nabcd", "Pf\n1 1\nnan\nabcd", "Pf\nx 1\n1\nabcd", "Pf\n1 99999999999999999999\n1\nabcd",
    ])
  func damagedPFM(text: String) {
    #expect(throws: PictureError.corrupt) { _ = try DepthMap.read(Array(text.utf8)) }
  }

  @Test("Depth maps have limits", arguments: ["Pf\n65000 65000\n-1\n", "Pf\n4000000000 2\n-1\n"])
  func bombs(text: String) {
    #expect(throws: PictureError.tooLarge) { _ = try DepthMap.read(Array(text.utf8)) }
  }

  @Test("The nearer, the brighter and the warmer", arguments: [DepthMap.Meaning.distance, .nearness])
  func monotone(meaning: DepthMap.Meaning) throws {
    let map = try DepthMap(width: 256, height: 1) { Float($0 + 1) }
    let colours = try map.falseColours(meaning)
    let lightness = (0..<256).map { x in
      let colour = colours[meaning == .nearness ? x : 255 - x, 0]
      return 0.2126 * Double(colour.red) + 0.7152 * Double(colour.green) + 0.0722 * Double(colour.blue)
    }
    // Whole numbers for red, green and blue make up to one of difference.
    for (darker, brighter) in zip(lightness, lightness.dropFirst()) { #expect(brighter >= darker - 1) }
    #expect(lightness[255] > lightness[0] + 150)
    let (near, far) =
      meaning == .nearness ? (colours[255, 0], colours[0, 0]) : (colours[0, 0], colours[255, 0])
    #expect(near == RGB8(0xF0, 0xF9, 0x21))
    #expect(far == RGB8(0x0D, 0x08, 0x87))
  }

  @Test("What was not measured is black, and shifts no colour")
  func notMeasured() throws {
    let values: [Float] = [1, .nan, 2, .infinity, 3, -.infinity, 0, -5]
    let colours = try DepthMap(width: 8, height: 1) { values[$0] }.falseColours()
    for x in [1, 3, 5, 6, 7] { #expect(colours[x, 0] == RGB8(0, 0, 0)) }
    #expect(colours[0, 0] == ColourScale.colour(1))
    #expect(colours[2, 0] == ColourScale.colour(0.5))
    #expect(colours[4, 0] == ColourScale.colour(0))
  }

  @Test("A map of nothing is black; a map of one depth has one colour")
  func degenerate() throws {
    let nothing = try DepthMap(width: 2, height: 1) { _ in .nan }.falseColours()
    #expect(nothing[0, 0] == RGB8(0, 0, 0))
    let flat = try DepthMap(width: 2, height: 1) { _ in 4 }.falseColours()
    #expect(flat[0, 0] == ColourScale.colour(0.5) && flat[0, 0] == flat[1, 0])
  }

  @Test("The largest and the smallest floats give colours as well")
  func extremes() throws {
    let values: [Float] = [-.greatestFiniteMagnitude, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
    let colours = try DepthMap(width: 3, height: 1) { values[$0] }.falseColours(.nearness)
    #expect(colours[0, 0] == ColourScale.colour(0))
    #expect(colours[1, 0] == ColourScale.colour(1))
    #expect(colours[2, 0] == ColourScale.colour(0.5))
  }

  @Test("One wrong measurement does not take the colours from the others")
  func outlier() throws {
    let colours = try DepthMap(width: 200, height: 1) { $0 == 0 ? 1e9 : Float($0) }.falseColours()
    #expect(colours[1, 0] != colours[50, 0])
    #expect(colours[50, 0] != colours[150, 0])
  }

  #if Pictures
    @Test("Grey PNGs give the numbers that were written, whatever they say of gamma")
    func png() throws {
      let gamma: [(String, [UInt8])] = [("gAMA", Fixture.bigEndian(45_455))]
      let deep = Fixture.png(
        width: 3, height: 1, bitDepth: 16, colourType: 0, rows: [0, 0, 1, 0x12, 0x34, 0xFF, 0xFF],
        extra: gamma)
      let map = try DepthMap.read(deep)
      #expect([map[0, 0], map[1, 0], map[2, 0]] == [1, 0x1234, 65_535])
      let shallow = Fixture.png(
        width: 3, height: 1, bitDepth: 8, colourType: 0, rows: [0, 0, 99, 255], extra: gamma)
      let other = try DepthMap.read(shallow)
      #expect([other[0, 0], other[1, 0], other[2, 0]] == [0, 99, 255])
    }

    @Test("A depth map in colour is not known")
    func colourDepth() throws {
      let file = try Fixture.png(width: 2, height: 2)
      #expect(throws: PictureError.unknownFormat) { _ = try DepthMap.read(file) }
    }

    @Test("False colours survive a PNG")
    func encoded() throws {
      let colours = try DepthMap(width: 5, height: 3) { Float($0 + 1) }.falseColours()
      let again = try PNGDecoder.decode(PNGEncoder.encode(colours).copied())
      for y in 0..<3 { for x in 0..<5 { #expect(again[x, y] == colours[x, y]) } }
    }
  #endif
}
