// SPDX-License-Identifier: Apache-2.0

#if Pictures
  import Testing

  @testable import Pictures

  @Suite struct DecodingTests {
    @Test("Without the library nothing is decoded")
    func noLibrary() {
      #expect(throws: PictureError.noLibrary) { _ = try JPEGDecoder(nil) }
    }

    @Test("A JPEG decodes to nearly what was encoded")
    func jpegRoundTrip() throws {
      let photo = try Fixture.jpeg(width: 64, height: 48, quality: 95)
      let size = try JPEGDecoder().size(of: photo)
      #expect([size.width, size.height] == [64, 48])
      let raster = try JPEGDecoder().decode(photo)
      let expected = try Raster.scene(width: 64, height: 48)
      for (x, y) in [(4, 4), (60, 4), (40, 40), (20, 30)] {
        #expect(isNear(raster[x, y], expected[x, y], 12))
      }
    }

    @Test(
      "A JPEG decodes at the smallest scale that is large enough",
      arguments: [(1, 100), (100, 100), (101, 200), (300, 300), (301, 400), (800, 800), (5000, 800)])
    func jpegScales(wanted: Int, expected: Int) throws {
      let photo = try Fixture.jpeg(width: 800, height: 400)
      let raster = try JPEGDecoder().decode(photo, atLeast: wanted)
      #expect([raster.width, raster.height] == [expected, expected / 2])
    }

    @Test("A photo with more pixels than a raster may have is decoded at a smaller scale")
    func largePhoto() {
      #expect(JPEGDecoder.eighths(10_000, 10_000, atLeast: nil) == 6)
      #expect(JPEGDecoder.eighths(10_000, 10_000, atLeast: 10_000) == 6)
      #expect(JPEGDecoder.eighths(10_000, 10_000, atLeast: 320) == 1)
      #expect(JPEGDecoder.eighths(8_000, 8_000, atLeast: nil) == 8)
    }

    @Test("A PNG decodes to exactly what was encoded")
    func pngRoundTrip() throws {
      let raster = try PNGDecoder.decode(Fixture.png(width: 37, height: 23))
      let expected = try Raster.scene(width: 37, height: 23)
      #expect([raster.width, raster.height] == [37, 23])
      for y in 0..<23 { for x in 0..<37 { #expect(raster[x, y] == expected[x, y]) } }
    }

    @Test("PNGs of other kinds decode as well")
    func pngKinds() throws {
      let grey = Fixture.png(width: 2, height: 1, bitDepth: 8, colourType: 0, rows: [0, 7, 200])
      #expect(try PNGDecoder.decode(grey)[1, 0] == RGB8(200, 200, 200))
      let palette = Fixture.png(
        width: 2, height: 1, bitDepth: 8, colourType: 3, rows: [0, 1, 0],
        extra: [("PLTE", [1, 2, 3, 40, 50, 60])])
      #expect(try PNGDecoder.decode(palette)[0, 0] == RGB8(40, 50, 60))
      let transparent = Fixture.png(
        width: 2, height: 1, bitDepth: 8, colourType: 6, rows: [0, 9, 8, 7, 255, 9, 8, 7, 0])
      let raster = try PNGDecoder.decode(transparent)
      #expect(raster[0, 0] == RGB8(9, 8, 7))
      #expect(raster[1, 0] == RGB8(255, 255, 255))
      let deep = Fixture.png(
        width: 1, height: 1, bitDepth: 16, colourType: 2, rows: [0, 128, 128, 64, 64, 1, 1])
      #expect(try PNGDecoder.decode(deep)[0, 0] == RGB8(128, 64, 1))
    }

    @Test("Parts of a PNG that are no pixels are not even looked at")
    func pngOtherChunks() throws {
      let photo = Fixture.png(
        width: 1, height: 1, bitDepth: 8, colourType: 0, rows: [0, 100],
        extra: [("iCCP", [0, 0, 0]), ("zTXt", [1, 2, 3]), ("gAMA", [0, 0, 0, 1])])
      #expect(try PNGDecoder.decode(photo)[0, 0] == RGB8(100, 100, 100))
    }

    @Test("A thumbnail is an upright JPEG of the wanted size", arguments: PictureOrientation.allCases)
    func thumbnails(orientation: PictureOrientation) throws {
      let photo = try Fixture.jpeg(width: 640, height: 320)
      let thumbnail = try Thumbnail.make(photo, longestSide: 160, orientation: orientation)
      let raster = try JPEGDecoder().decode(thumbnail.copied())
      let isTurned = orientation.rawValue >= 5
      #expect([raster.width, raster.height] == (isTurned ? [80, 160] : [160, 80]))
      // The black corner, which was at the top left.
      let isRight = [2, 3, 6, 7].contains(orientation.rawValue)
      let isBottom = [3, 4, 7, 8].contains(orientation.rawValue)
      let corner = raster[isRight ? raster.width - 4 : 3, isBottom ? raster.height - 4 : 3]
      #expect(isNear(corner, RGB8(0, 0, 0), 12))
      let opposite = raster[isRight ? 3 : raster.width - 4, isBottom ? 3 : raster.height - 4]
      #expect(!isNear(opposite, RGB8(0, 0, 0), 100))
    }

    @Test("A thumbnail of a small photo keeps its size")
    func smallThumbnail() throws {
      let thumbnail = try Thumbnail.make(Fixture.png(width: 20, height: 10))
      let size = try JPEGDecoder().size(of: thumbnail.copied())
      #expect([size.width, size.height] == [20, 10])
    }

    // MARK: Hostile files

    @Test(
      "Bytes that are not a picture are called so",
      arguments: ["", "G", "GIF89a....", "<svg/>", "\u{7F}ELF\u{1}\u{1}"])
    func noPictures(text: String) {
      #expect(throws: PictureError.notAPicture) { _ = try Thumbnail.make(Array(text.utf8)) }
    }

    @Test("A picture that breaks off is corrupt, wherever it does")
    func truncated() throws {
      for photo in [try Fixture.jpeg(width: 200, height: 100), try Fixture.png(width: 60, height: 40)] {
        for count in stride(from: 8, to: photo.count - 2, by: 97) {
          let part = Array(photo.prefix(count))
          #expect(throws: PictureError.corrupt, "\(count) of \(photo.count) bytes") {
            _ = try Thumbnail.make(part)
          }
        }
      }
    }

    @Test("Changed bytes are a picture or an error, and never an end")
    func mutated() throws {
      var generator = Seeded(state: 7)
      for photo in [try Fixture.jpeg(width: 100, height: 80), try Fixture.png(width: 40, height: 30)] {
        for _ in 0..<200 {
          var photo = photo
          for _ in 0..<4 {
            photo[Int.random(in: 3..<photo.count, using: &generator)] = .random(
              in: 0...255, using: &generator)
          }
          _ = try? Thumbnail.make(photo).count
        }
      }
    }

    @Test("Random bytes behind a beginning of a picture are corrupt")
    func random() {
      var generator = Seeded(state: 11)
      for start: [UInt8] in [[0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]] {
        let photo = start + (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(throws: PictureError.corrupt) { _ = try Thumbnail.make(photo) }
      }
    }

    @Test("A header that promises too many pixels is refused before memory is taken")
    func bombs() throws {
      let png = Fixture.png(width: 60_000, height: 60_000, bitDepth: 8, colourType: 2, rows: [0])
      #expect(throws: PictureError.tooLarge) { _ = try Thumbnail.make(png) }
      let wide = Fixture.png(width: 2_000_000_000, height: 1, bitDepth: 1, colourType: 0, rows: [0])
      #expect(throws: PictureError.tooLarge) { _ = try Thumbnail.make(wide) }
      let jpeg = try resized(Fixture.jpeg(width: 64, height: 64), 65_000, 65_000)
      #expect(throws: PictureError.tooLarge) { _ = try Thumbnail.make(jpeg) }
      let empty = try resized(Fixture.jpeg(width: 64, height: 64), 9_000, 9_000)
      #expect(throws: PictureError.corrupt) { _ = try Thumbnail.make(empty) }
    }

    @Test("A file that is too large is not read")
    func largeFile() {
      let file = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: PictureLimits.fileByteCount)
      #expect(throws: PictureError.tooLarge) { _ = try JPEGDecoder().size(of: file) }
    }

    @Test("A thumbnail larger than thumbnails are is refused")
    func largeThumbnail() throws {
      let photo = try Fixture.jpeg(width: 8, height: 8)
      #expect(throws: PictureError.tooLarge) {
        _ = try Thumbnail.make(photo, longestSide: PictureLimits.thumbnailSideLength + 1)
      }
      #expect(throws: PictureError.invalidSize) { _ = try Thumbnail.make(photo, longestSide: 0) }
    }

    /// Another size in the frame header (marker SOF0).
    private func resized(_ photo: [UInt8], _ width: Int, _ height: Int) throws -> [UInt8] {
      var photo = photo
      let marker = try #require(
        photo.indices.dropLast(9).first { photo[$0] == 0xFF && photo[$0 + 1] == 0xC0 })
      photo.replaceSubrange(
        marker + 5..<marker + 9,
        with: [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)])
      return photo
    }

    private func isNear(_ left: RGB8, _ right: RGB8, _ limit: Int) -> Bool {
      zip([left.red, left.green, left.blue], [right.red, right.green, right.blue])
        .allSatisfy { abs(Int($0) - Int($1)) <= limit }
    }
  }
#endif
