// SPDX-License-Identifier: Apache-2.0
//
// QR codes in pictures of others, made by qrencode, found by the other process; and what that process must survive.

#if Pictures
  import Foundation
  import Secrets
  import Testing

  @testable import Pictures

  @Suite struct CodeReaderTests {
    private let reader = CodeReader(executable: Fixture.probe, deadlineSeconds: Fixture.patienceSeconds)

    private func reader(_ word: String, deadlineSeconds: Int = Fixture.patienceSeconds) -> CodeReader {
      var reader = CodeReader(executable: Fixture.probe, deadlineSeconds: deadlineSeconds)
      reader.worker.arguments = [word]
      return reader
    }

    private func texts(_ picture: [UInt8], _ reader: CodeReader? = nil) throws -> [String] {
      let span = picture.span
      return try (reader ?? self.reader).texts(in: span.bytes)
        .map { $0.withBytes { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } } }
    }

    /// The pixels of a code of qrencode's, with its light border.
    private func code(_ text: String, scale: Int = 3) throws -> Raster {
      try PNGDecoder.decode(Party.qrencode(text, ["-s", "\(scale)", "-m", "4"]))
    }

    /// A white picture with others in it.
    private func sheet(_ width: Int, _ height: Int, _ codes: [(x: Int, y: Int, text: String)]) throws
      -> Raster
    {
      var sheet = try Raster(width: width, height: height)
      sheet.paint { _, _ in RGB8(255, 255, 255) }
      for (left, top, text) in codes {
        let code = try code(text)
        sheet.withMutablePixels { pixels in
          for y in 0..<code.height {
            for x in 0..<code.width {
              for part in 0..<3 {
                pixels.storeBytes(
                  of: code[x, y].red, toByteOffset: 3 * ((top + y) * width + left + x) + part, as: UInt8.self)
              }
            }
          }
        }
      }
      return sheet
    }

    // MARK: It works

    @Test(
      "A code is found at every size, with and without its border",
      arguments: [1, 2, 3, 8, 20], [0, 4])
    func sizes(scale: Int, margin: Int) throws {
      let text = "cypherair://import/v1/" + String(repeating: "xjM", count: 100)
      let picture = try Party.qrencode(text, ["-s", "\(scale)", "-m", "\(margin)"])
      #expect(try texts(picture) == [text])
    }

    @Test("The largest codes are found", arguments: [("M", 2331), ("L", 2953)])
    func largest(level: String, count: Int) throws {
      let text = String(repeating: "z", count: count)
      #expect(try texts(Party.qrencode(text, ["-l", level])) == [text])
      #expect(try texts(QRCode(text).png()) == [text])
    }

    @Test(
      "A code is found whichever way the picture is turned or mirrored, and in a JPEG",
      arguments: PictureOrientation.allCases)
    func turned(orientation: PictureOrientation) throws {
      let raster = try code("turned").oriented(orientation)
      #expect(try texts(PNGEncoder.encode(raster).copied()) == ["turned"])
      #expect(try texts(JPEGEncoder.encode(raster, quality: 60).copied()) == ["turned"])
    }

    @Test("A code is found in a picture that was taken askew", arguments: [7, 30, 45, 128])
    func askew(degrees: Int) throws {
      let text = "cypherair://import/v1/" + String(repeating: "xjM", count: 200)
      let code = try code(text, scale: 4)
      let side = code.width * 3 / 2
      let angle = Double(degrees) * .pi / 180
      var picture = try Raster(width: side, height: side)
      picture.paint { x, y in
        let (across, down) = (Double(x - side / 2), Double(y - side / 2))
        let column = Int((across * cos(angle) + down * sin(angle)).rounded()) + code.width / 2
        let row = Int((down * cos(angle) - across * sin(angle)).rounded()) + code.height / 2
        guard (0..<code.width).contains(column), (0..<code.height).contains(row) else {
          return RGB8(200, 190, 180)
        }
        return code[column, row].red > 127 ? RGB8(235, 230, 220) : RGB8(60, 50, 45)
      }
      #expect(try texts(JPEGEncoder.encode(picture, quality: 70).copied()) == [text])
    }

    @Test("Light on dark, transparent and grey pictures are read")
    func colours() throws {
      #expect(
        try texts(Party.qrencode("inverted", ["--foreground=FFFFFF", "--background=000000"])) == ["inverted"])
      #expect(try texts(Party.qrencode("transparent", ["--background=FFFFFF00"])) == ["transparent"])
      #expect(try texts(Party.qrencode("palette", ["-t", "PNG32"])) == ["palette"])
    }

    @Test("Several codes are found, each once")
    func several() throws {
      let sheet = try sheet(
        600, 300, [(10, 10, "first"), (200, 20, "second"), (400, 30, "first"), (30, 150, "third")])
      #expect(try Set(texts(PNGEncoder.encode(sheet).copied())) == ["first", "second", "third"])
    }

    @Test("What a code has in another encoding comes out without an end, as octets or as UTF-8")
    func encodings() throws {
      let latin: [UInt8] = [0xE9, 0xE8, 0x61, 0xFF]
      let bytes = try Party.qrencode(latin)
      let span = bytes.span
      let found = try reader.texts(in: span.bytes)
      #expect(found.map { $0.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } } } == [latin])
      #expect(try texts(Party.qrencode([0x8A, 0xBF, 0x8E, 0x9A], ["-k"])).count == 1)
    }

    @Test("A picture without a code has none")
    func none() throws {
      #expect(try texts(Fixture.jpeg(width: 400, height: 300)) == [])
      #expect(try texts(Fixture.png(width: 1, height: 1)) == [])
    }

    @Test("Other kinds of code are not looked for")
    func otherKinds() throws {
      // The bars of an article number (EAN-13) that begins with 0, so that all digits on the left are of set A.
      let sets = [
        "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111",
        "0001011",
      ]
      let left = [1, 2, 3, 4, 5, 6].map { sets[$0] }.joined()
      let right = [7, 8, 9, 0, 1, 2].map { sets[$0].map { $0 == "0" ? "1" : "0" }.joined() }.joined()
      let bars = "101" + left + "01010" + right + "101"
      var picture = try Raster(width: 3 * (bars.count + 20), height: 120)
      let isDark = Array(bars).map { $0 == "1" }
      picture.paint { x, y in
        let bar = x / 3 - 10
        return bar >= 0 && bar < isDark.count && isDark[bar] ? RGB8(0, 0, 0) : RGB8(255, 255, 255)
      }
      let file = try PNGEncoder.encode(picture).copied()
      #expect(try Party.zbarimg(file) == "0123456789012")
      #expect(try texts(file) == [])
    }

    // MARK: Limits and damage

    @Test("Pictures of up to 40 million pixels are searched, larger ones are refused before memory is taken")
    func huge() throws {
      let white = [UInt8](repeating: 255, count: 6325 * 6324)
      let blank = try PNGEncoder.encode(grey: white, width: 6325, height: 6324)
      #expect(try texts(blank, reader) == [])
      for (width, height) in [(6325, 6325), (65_500, 65_500), (40_000_001, 1)] {
        let header = Fixture.png(width: width, height: height, bitDepth: 1, colourType: 0, rows: [0])
        #expect(throws: PictureError.tooLarge) { _ = try texts(header) }
      }
    }

    @Test("A picture with too many codes is refused, not cut")
    func tooMany() throws {
      let codes = (0..<33).map { (x: 10 + $0 % 7 * 100, y: 10 + $0 / 7 * 100, text: "code \($0)") }
      let all = try PNGEncoder.encode(sheet(720, 520, codes)).copied()
      #expect(throws: PictureError.tooManyCodes) { _ = try texts(all) }
      let fewer = try PNGEncoder.encode(sheet(720, 520, Array(codes.prefix(32)))).copied()
      #expect(try Set(texts(fewer)) == Set(codes.prefix(32).map(\.text)))
    }

    @Test("A picture that breaks off is damaged, and other files are no pictures")
    func damaged() throws {
      let png = try Party.qrencode("damaged")
      let jpeg = try JPEGEncoder.encode(code("damaged"), quality: 80).copied()
      for picture in [png, jpeg] {
        let half = Array(picture.prefix(picture.count / 2))
        #expect(throws: PictureError.corrupt) { _ = try texts(half) }
      }
      #expect(throws: PictureError.notAPicture) { _ = try texts(Array("GIF89a".utf8)) }
      #expect(throws: PictureError.notAPicture) { _ = try texts([]) }
    }

    @Test("Changed bytes are texts or an error, and never an end that was not foreseen")
    func mutated() throws {
      var generator = Seeded(state: 23)
      let png = try Party.qrencode("cypherair://import/v1/" + String(repeating: "xjM", count: 100))
      let jpeg = try JPEGEncoder.encode(PNGDecoder.decode(png), quality: 80).copied()
      for picture in [png, jpeg] {
        for _ in 0..<60 {
          var picture = picture
          for _ in 0..<3 {
            picture[Int.random(in: 20..<picture.count, using: &generator)] = .random(
              in: 0...255, using: &generator)
          }
          let span = picture.span
          do throws(PictureError) { _ = try reader.texts(in: span.bytes) } catch {
            #expect(error == .corrupt || error == .tooLarge || error == .unknownFormat, "\(error)")
          }
        }
      }
    }

    @Test("Changed modules are texts or nothing, and never an end")
    func mutatedModules() throws {
      // A finder pattern at many places, and noise between them, is what the library has had errors with.
      var generator = Seeded(state: 29)
      let code = try code("cypherair://import/v1/" + String(repeating: "xjM", count: 300), scale: 2)
      for round in 0..<60 {
        var picture = try Raster(width: code.width, height: code.height)
        let share = UInt64(round + 1)
        picture.paint { x, y in
          let isFlipped = generator.next() % 400 < share
          return (code[x, y].red > 127) != isFlipped ? RGB8(255, 255, 255) : RGB8(0, 0, 0)
        }
        let file = try PNGEncoder.encode(picture).copied()
        for text in try texts(file) { #expect(text.utf8.count <= PictureLimits.codeByteCount) }
      }
    }

    // MARK: The other process misbehaves, or has no library

    @Test(
      "Without the library, or with another one of its name, nothing is read",
      arguments: ["no-library", "other-library"])
    func noLibrary(word: String) throws {
      #expect(throws: PictureError.noCodeLibrary) { _ = try texts(Party.qrencode("x"), reader(word)) }
    }

    @Test("The process that decodes photos finds no codes, and the one that finds codes decodes no photos")
    func apart() throws {
      let picture = try Party.qrencode("x")
      #expect(throws: PictureError.noCodeLibrary) { _ = try texts(picture, reader(PictureWorker.argument)) }
      var worker = PictureWorker(executable: Fixture.probe, deadlineSeconds: Fixture.patienceSeconds)
      worker.arguments = [CodeReader.argument]
      #expect(throws: PictureError.crashed) { _ = try worker.thumbnail(of: picture) }
    }

    @Test(
      "A process that dies or talks nonsense is reported as crashed",
      arguments: [
        "trap", "leave", "nonsense", "promise-everything", "half", "unknown-status", "wrong-size", "try-open",
        "many-codes", "long-code", "code-cut-off",
      ])
    func crashed(word: String) throws {
      let picture = try Party.qrencode("x") + [UInt8](repeating: 0, count: 4 << 20)
      #expect(throws: PictureError.crashed) { _ = try texts(picture, reader(word)) }
    }

    @Test("A process that takes too long is ended", arguments: ["hang", "flood"])
    func timedOut(word: String) throws {
      let picture = try Party.qrencode("x")
      #expect(throws: PictureError.self) { _ = try texts(picture, reader(word, deadlineSeconds: 1)) }
    }

    @Test("A list of texts is read as it was written, and anything else is refused")
    func lists() throws {
      var list = CodeTexts()
      for text in ["", "one", "two", "one", "three\u{0}"] {
        let bytes = Array(text.utf8)
        try list.append(bytes.span.bytes)
      }
      let written = list.finished().copied()
      #expect(
        written == [0, 0, 0, 0, 3, 0, 0, 0] + Array("one".utf8) + [3, 0, 0, 0] + Array("two".utf8)
          + [6, 0, 0, 0] + Array("three\u{0}".utf8))
      func read(_ bytes: [UInt8]) throws(PictureError) -> [String] {
        let span = bytes.span
        return try CodeTexts.read(span.bytes).map {
          $0.withBytes { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
        }
      }
      #expect(try read(written) == ["", "one", "two", "three\u{0}"])
      #expect(try read([]) == [])
      for count in 1..<written.count where ![4, 11, 18].contains(count) {
        #expect(throws: PictureError.crashed, "\(count)") { _ = try read(Array(written.prefix(count))) }
      }
      #expect(throws: PictureError.crashed) { _ = try read(written + [0xFF, 0xFF, 0xFF, 0xFF]) }
    }

    @Test("A text that is longer than any code is cut, so that no URL is short enough by that")
    func longText() throws {
      var list = CodeTexts()
      let bytes = [UInt8](repeating: 0x61, count: PictureLimits.codeByteCount + 1)
      try list.append(bytes.span.bytes)
      #expect(list.finished().count == 4 + PictureLimits.codeByteCount)
    }

    @Test("The process that asks does not map the library that finds codes")
    func notMapped() throws {
      #expect(try texts(Party.qrencode("mapped")) == ["mapped"])
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
      let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      #expect(!maps.contains("libzbar"))
    }

    @Test("Files are told apart by their first bytes")
    func kinds() throws {
      func isForeign(_ bytes: [UInt8]) -> Bool {
        let span = bytes.span
        return PictureKind.isForeign(span.bytes)
      }
      func isRead(_ bytes: [UInt8]) -> Bool {
        let span = bytes.span
        return CodeReader.recognises(span.bytes)
      }
      let foreign = [
        Array("GIF89a".utf8), Array("RIFF\u{4}\u{0}\u{0}\u{0}WEBPVP8 ".utf8),
        [0, 0, 0, 24] + Array("ftypheic".utf8),
        Array("<?xml version=".utf8), Array("<svg ".utf8), Array("%PDF-1.7".utf8), Array("%!PS-Adobe".utf8),
        Array("BM".utf8) + [UInt8](repeating: 0, count: 12), [0x49, 0x49, 0x2A, 0, 8],
        [0x4D, 0x4D, 0, 0x2A, 0],
      ]
      for head in foreign { #expect(isForeign(head) && !isRead(head)) }
      let texts = [
        "", "B", "BM", "RIFF", "-----BEGIN PGP PUBLIC KEY BLOCK-----", "cypherair://import/v1/", "BMW of Bob",
      ]
      for text in texts { #expect(!isForeign(Array(text.utf8)) && !isRead(Array(text.utf8))) }
      #expect(!isForeign([0x98, 0x33, 0x04]) && !isForeign([0xC6, 0x2A, 0x06]))
      for picture in [try Party.qrencode("x"), try Fixture.jpeg(width: 4, height: 4)] {
        #expect(isRead(picture) && !isForeign(picture))
      }
    }
  }
#endif
