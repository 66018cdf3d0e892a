// SPDX-License-Identifier: Apache-2.0
//
// A build without the package trait `Pictures`.

#if !Pictures
  import Pictures
  import Testing

  @Suite struct WithoutDecodersTests {
    @Test("A build without decoders says so")
    func notBuilt() throws {
      let photo: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
      #expect(throws: PictureError.notBuilt) { _ = try Thumbnail.make(photo) }
      let worker = PictureWorker(executable: Fixture.probe)
      #expect(throws: PictureError.notBuilt) { _ = try worker.thumbnail(of: photo) }
      #expect(throws: PictureError.notBuilt) { _ = try worker.raster(of: photo, longestSide: 5) }
      let depth = Fixture.pfm([[1, 2]], isLittleEndian: true)
      #expect(try worker.depthRaster(of: depth, longestSide: 5).width == 2)
      #expect(throws: PictureError.notBuilt) { _ = try worker.depthPNG(of: depth) }
    }
  }
#endif
