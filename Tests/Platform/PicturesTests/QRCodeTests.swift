// SPDX-License-Identifier: Apache-2.0
//
// QR codes that are made here. zbarimg, another program, reads them.

#if Pictures
  import Foundation
  import Testing

  @testable import Pictures

  @Suite struct QRCodeTests {
    private static func text(_ count: Int) -> String {
      String(decoding: (0..<count).map { UInt8(ascii: "a") + UInt8($0 * 7 % 26) }, as: UTF8.self)
    }

    @Test(
      "Error correction is M, and L from the first octet on that does not fit with M",
      arguments: [
        (1, QRCode.ErrorCorrection.medium, 21), (14, .medium, 21), (15, .medium, 25), (2331, .medium, 177),
        (2332, .low, 161), (2953, .low, 177),
      ])
    func levels(count: Int, level: QRCode.ErrorCorrection, side: Int) throws {
      let code = try QRCode(Self.text(count))
      #expect(code.errorCorrection == level)
      #expect(code.sideLength == side && code.fullSideLength == side + 8)
    }

    @Test("A text that no code has room for is refused, and so is none")
    func tooLarge() {
      #expect(throws: PictureError.tooLarge) { _ = try QRCode(Self.text(2954)) }
      #expect(throws: PictureError.tooLarge) { _ = try QRCode(Self.text(100_000)) }
      #expect(throws: PictureError.invalidSize) { _ = try QRCode("") }
    }

    @Test("A code is neither made nor drawn without the library")
    func noLibrary() throws {
      #expect(throws: PictureError.noLibrary) { _ = try QRCode.encode([65], .medium, nil) }
      #expect(throws: PictureError.noLibrary) {
        _ = try PNGEncoder.encode(grey: [0, 255], width: 2, height: 1, nil)
      }
      #expect(try PNGEncoder.encode(grey: [0, 255], width: 2, height: 1).count > 8)
    }

    @Test("Digits and capitals are octets too, so that the code is the same for every reader")
    func byteMode() throws {
      // In alphanumeric mode, 25 characters fit into the smallest code; in byte mode 14.
      #expect(try QRCode("ABCDEFGHIJ0123456789").sideLength == 25)
    }

    @Test("The three corners have their squares, and everything around the code is light")
    func modules() throws {
      let code = try QRCode("hello")
      let finder = [
        "#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######",
      ].map { $0.map { $0 == "#" } }
      let last = code.sideLength - 7
      for (left, top) in [(0, 0), (last, 0), (0, last)] {
        for y in 0..<7 { for x in 0..<7 { #expect(code.isDark(left + x, top + y) == finder[y][x]) } }
      }
      for place in -4..<code.sideLength + 4 {
        for outside in [-4, -1, code.sideLength, code.sideLength + 3] {
          #expect(!code.isDark(place, outside) && !code.isDark(outside, place))
        }
      }
    }

    @Test(
      "Lines for a terminal have the modules of two rows each, in colours that they name",
      arguments: [false, true])
    func terminal(in256Colours: Bool) throws {
      let code = try QRCode(Self.text(100))
      let start = in256Colours ? "\u{1B}[38;5;16;48;5;231m" : "\u{1B}[30;47m"
      let lines = code.text(in256Colours: in256Colours).split(separator: "\n")
      #expect(lines.count == code.textRowCount && lines.count == (code.fullSideLength + 1) / 2)
      for (row, line) in lines.enumerated() {
        #expect(line.hasPrefix(start) && line.hasSuffix("\u{1B}[0m"))
        let drawn = Array(line.dropFirst(start.count).dropLast(4))
        #expect(drawn.count == code.fullSideLength)
        for (column, character) in drawn.enumerated() {
          let (x, y) = (column - 4, 2 * row - 4)
          #expect((character == "█" || character == "▀") == code.isDark(x, y))
          #expect((character == "█" || character == "▄") == code.isDark(x, y + 1))
        }
      }
    }

    @Test(
      "The PNG has eight pixels a module, and zbarimg reads the text in it",
      arguments: [1, 60, 700, 2331, 2953])
    func png(count: Int) throws {
      let text = Self.text(count)
      let code = try QRCode(text)
      let file = try code.png()
      let raster = try PNGDecoder.decode(file)
      #expect(raster.width == 8 * code.fullSideLength && raster.height == raster.width)
      for y in stride(from: 3, to: raster.height, by: 8) {
        for x in stride(from: 4, to: raster.width, by: 8) {
          #expect(raster[x, y] == (code.isDark(x / 8 - 4, y / 8 - 4) ? RGB8(0, 0, 0) : RGB8(255, 255, 255)))
        }
      }
      #expect(try Party.zbarimg(file) == text)
    }
  }

  /// The other programs that make and read codes.
  enum Party {
    struct Failed: Error {}

    /// A PNG that qrencode makes of a text.
    static func qrencode(_ text: [UInt8], _ options: [String] = []) throws -> [UInt8] {
      try run("qrencode", ["-8", "-o", "-", "-t", "PNG"] + options, text)
    }

    static func qrencode(_ text: String, _ options: [String] = []) throws -> [UInt8] {
      try qrencode(Array(text.utf8), options)
    }

    /// The text that zbarimg finds.
    static func zbarimg(_ file: [UInt8]) throws -> String {
      let path = FileManager.default.temporaryDirectory.appending(
        path: "coffer-code-\(UUID().uuidString).png")
      defer { try? FileManager.default.removeItem(at: path) }
      try Data(file).write(to: path)
      return String(
        decoding: try run("zbarimg", ["--quiet", "--raw", "--oneshot", path.path()], []), as: UTF8.self
      )
      .trimmingCharacters(in: .newlines)
    }

    private static func run(_ program: String, _ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [program] + arguments
      let (standardInput, output) = (Pipe(), Pipe())
      process.standardInput = standardInput
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      // No input is larger than a pipe holds.
      try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
      try standardInput.fileHandleForWriting.close()
      let result = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw Failed() }
      return Array(result)
    }
  }

#endif
