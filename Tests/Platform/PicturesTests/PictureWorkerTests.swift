// SPDX-License-Identifier: Apache-2.0

#if Pictures
  import Foundation
  import Glibc
  import Testing

  @testable import Pictures

  @Suite struct PictureWorkerTests {
    private let worker = PictureWorker(executable: Fixture.probe, deadlineSeconds: Fixture.patienceSeconds)

    private func worker(_ word: String, deadlineSeconds: Int = Fixture.patienceSeconds) -> PictureWorker {
      var worker = PictureWorker(executable: Fixture.probe, deadlineSeconds: deadlineSeconds)
      worker.arguments = [word]
      return worker
    }

    // MARK: It works

    @Test("A thumbnail from the other process is the one that this process would have made")
    func thumbnail() throws {
      let photo = try Fixture.jpeg(width: 900, height: 600)
      let thumbnail = try worker.thumbnail(of: photo, orientation: .quarterClockwise)
      let expected = try Thumbnail.make(photo, orientation: .quarterClockwise)
      #expect(thumbnail.copied() == expected.copied())
    }

    @Test("A raster comes back with its pixels")
    func raster() throws {
      let photo = try Fixture.png(width: 30, height: 20)
      let raster = try worker.raster(of: photo, longestSide: 100, orientation: .upsideDown)
      let expected = try Raster.scene(width: 30, height: 20)
      #expect(raster.width == 30 && raster.height == 20)
      #expect(raster[0, 0] == expected[29, 19] && raster[29, 0] == expected[0, 19])
    }

    @Test("A photo that is larger than any buffer in between gets through")
    func largePhoto() throws {
      var photo = try Fixture.jpeg(width: 64, height: 64)
      photo += [UInt8](repeating: 0, count: 40 << 20)
      #expect(try worker.raster(of: photo, longestSide: 64).width == 64)
    }

    @Test("A large raster gets through")
    func largeRaster() throws {
      let photo = try Fixture.jpeg(width: 3000, height: 2000)
      let raster = try worker.raster(of: photo, longestSide: 3000)
      #expect(raster.width == 3000 && raster.height == 2000)
    }

    @Test("A depth map comes back in colours, as pixels and as a PNG")
    func depth() throws {
      let file = Fixture.pfm([[1, 2], [.nan, 3]], isLittleEndian: true)
      let raster = try worker.depthRaster(of: file, longestSide: 10)
      let again = try PNGDecoder.decode(worker.depthPNG(of: file).copied())
      for (x, y, share) in [(0, 0, 1.0), (1, 0, 0.5), (1, 1, 0)] {
        #expect(raster[x, y] == ColourScale.colour(share) && again[x, y] == raster[x, y])
      }
      #expect(raster[0, 1] == RGB8(0, 0, 0))
      #expect(
        try worker.depthRaster(of: file, longestSide: 10, meaning: .nearness)[0, 0] == ColourScale.colour(0))
    }

    @Test("What it cannot do comes back as the error that it is")
    func errors() throws {
      let noise = [UInt8](repeating: 0x5A, count: 100_000)
      #expect(throws: PictureError.notAPicture) { _ = try worker.thumbnail(of: noise) }
      #expect(throws: PictureError.unknownFormat) { _ = try worker.depthPNG(of: noise) }
      #expect(throws: PictureError.notAPicture) { _ = try worker.thumbnail(of: [UInt8]()) }
      let half = try Array(Fixture.jpeg(width: 300, height: 200).dropLast(500))
      #expect(throws: PictureError.corrupt) { _ = try worker.thumbnail(of: half) }
      let bomb = Fixture.png(width: 60_000, height: 60_000, bitDepth: 8, colourType: 2, rows: [0])
      #expect(throws: PictureError.tooLarge) { _ = try worker.thumbnail(of: bomb) }
      let photo = try Fixture.jpeg(width: 8, height: 8)
      #expect(throws: PictureError.tooLarge) { _ = try worker.thumbnail(of: photo, longestSide: 5000) }
      #expect(throws: PictureError.invalidSize) { _ = try worker.raster(of: photo, longestSide: 0) }
    }

    // MARK: The other process misbehaves

    @Test(
      "A process that dies or talks nonsense is reported as crashed",
      arguments: [
        "trap", "leave", "nonsense", "promise-everything", "wrong-size", "larger-than-asked", "half",
        "unknown-status", "nothing-inside", "try-open",
      ])
    func crashed(word: String) throws {
      // Too large for the socket's buffer: the other side goes while it is being written.
      let photo = [UInt8](repeating: 1, count: 4 << 20)
      #expect(throws: PictureError.crashed) {
        _ = try worker(word).raster(of: photo, longestSide: 50)
      }
    }

    @Test("A process that takes too long is ended", arguments: ["hang", "flood"])
    func timedOut(word: String) throws {
      let photo = [UInt8](repeating: 1, count: 4 << 20)
      #expect(throws: PictureError.timedOut) {
        _ = try worker(word, deadlineSeconds: 1).raster(of: photo, longestSide: 50)
      }
    }

    @Test("A program that is not there cannot be started")
    func missing() {
      #expect(throws: PictureError.cannotStart) {
        _ = try PictureWorker(executable: "/nonexistent/program").thumbnail(of: [1, 2, 3])
      }
    }

    // MARK: The sandbox

    @Test(
      "In the sandbox, what decoding does not need is death",
      arguments: [
        "try-open", "try-socket", "try-execute", "try-spawn", "try-signal", "try-pipe",
        "try-executable-memory", "try-making-memory-executable", "try-remote-memory",
      ])
    func killed(word: String) throws {
      let run = try run([word])
      #expect(run.terminationReason == .uncaughtSignal)
      #expect(run.terminationStatus == SIGSYS)
    }

    @Test(
      "In the sandbox there is memory up to a limit, and no descriptor but the standard ones",
      arguments: ["try-nothing", "try-memory-below-limit", "try-memory-above-limit", "try-other-descriptor"])
    func confined(word: String) throws {
      let run = try run([word])
      #expect(run.terminationReason == .exit)
      #expect(run.terminationStatus == 0)
    }

    @Test("A hundred pictures for a process nobody may look into leave no descriptor and no zombie")
    func hundredRuns() throws {
      let path = FileManager.default.temporaryDirectory.appending(
        path: "coffer-photo-\(UUID().uuidString).jpg")
      defer { try? FileManager.default.removeItem(at: path) }
      try Data(Fixture.jpeg(width: 400, height: 300)).write(to: path)
      let output = Pipe()
      // 8 cannot ask, 9 an unexpected error, 10 a descriptor left, 11 a child left.
      let run = try run(["parent", path.path(), "100"], output)
      #expect(run.terminationStatus == 0)
      let count = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      #expect(Int(count.dropLast()).map { $0 > 500 } == true)
    }

    private func run(_ words: [String], _ output: Pipe? = nil) throws -> Process {
      let process = Process()
      process.executableURL = URL(filePath: Fixture.probe)
      process.arguments = words
      process.standardInput = FileHandle.nullDevice
      if let output { process.standardOutput = output }
      try process.run()
      process.waitUntilExit()
      return process
    }
  }
#endif
