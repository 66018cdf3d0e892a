// SPDX-License-Identifier: Apache-2.0
//
// What a picture leaves in the memory of the process that shows it. The pixels are made in the other
// process, out of numbers nobody else has.

#if Pictures
  import MemorySearch
  import Secrets
  import Testing

  @testable import Pictures

  @Suite("What a picture leaves in memory")
  struct MemoryTests {
    @Test("Pixels and the text that draws them are gone when they are let go")
    func nothingLeft() async {
      await #expect(processExitsWith: .success) {
        recordingErrors {
          let depth = Fixture.pfm([(0..<2048).map { _ in Float.random(in: 1..<1000) }], isLittleEndian: true)
          let needles = try MemoryTests().shown(depth)
          for (name, needle) in needles { try ProcessMemory.expectGone(needle, "\(name)") }
        }
      }
    }

    /// Shows the map in every way; each needle is found as long as it is used.
    @inline(never)
    private func shown(_ depth: [UInt8]) throws -> [(String, Needle)] {
      let worker = PictureWorker(executable: Fixture.probe)
      let pixels = try worker.depthRaster(of: depth, longestSide: 2048).withPixels {
        Needle($0.extracting(500..<620))
      }
      let file = try worker.depthPNG(of: depth)
      var needles = [("pixels", pixels), ("file", file.withBytes { Needle($0.extracting(100..<220)) })]
      for graphics: TerminalGraphics in [.kitty, .sixel, .halfBlocks, .halfBlocks256] {
        let raster = try worker.depthRaster(of: depth, longestSide: 2048)
        let text = try TerminalPicture.text(of: raster, graphics, columns: 2048, rows: 10)
        let needle = text.withBytes { Needle($0.extracting(text.count - 320..<text.count - 200)) }
        #expect(try !ProcessMemory.places(of: needle).isEmpty, "\(graphics)")
        needles.append(("\(graphics)", needle))
      }
      return needles
    }
  }
#endif
