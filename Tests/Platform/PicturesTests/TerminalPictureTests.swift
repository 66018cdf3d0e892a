// SPDX-License-Identifier: Apache-2.0

import Foundation
import Pictures
import Testing

@Suite struct TerminalPictureTests {
  @Test("Half blocks name a colour only when it changes")
  func halfBlocks() throws {
    let text = try TerminalPicture.text(
      of: .drawn("rr", "gb", "ww"), .halfBlocks, columns: 10, rows: 10
    ).text()
    #expect(
      text == "\u{1B}[38;2;255;0;0m\u{1B}[48;2;0;255;0m▀\u{1B}[48;2;0;0;255m▀\u{1B}[0m\n"
        + "\u{1B}[38;2;255;255;255m▀▀\u{1B}[0m\n")
  }

  @Test("Half blocks in 256 colours take the nearest ones")
  func halfBlocks256() throws {
    #expect(
      try TerminalPicture.text(of: .drawn("rwk", "gby"), .halfBlocks256, columns: 3, rows: 1).text()
        == "\u{1B}[38;5;196m\u{1B}[48;5;46m▀\u{1B}[38;5;231m\u{1B}[48;5;21m▀"
        + "\u{1B}[38;5;16m\u{1B}[48;5;226m▀\u{1B}[0m\n")
    var raster = try Raster.drawn("k")
    raster.paint { _, _ in RGB8(129, 127, 128) }
    #expect(
      try TerminalPicture.text(of: raster, .halfBlocks256, columns: 1, rows: 1).text()
        == "\u{1B}[38;5;244m▀\u{1B}[0m\n")
  }

  @Test("A small picture in the kitty protocol")
  func kitty() throws {
    #expect(
      try TerminalPicture.text(of: .drawn("rg", "bw"), .kitty, columns: 80, rows: 24).text()
        == "\u{1B}_Ga=T,f=24,s=2,v=2,c=1,r=1,q=2,m=0;/wAAAP8AAAD/////\u{1B}\\\n")
  }

  @Test("A larger picture in the kitty protocol comes in parts that decode to its pixels")
  func kittyParts() throws {
    let raster = try Raster.scene(width: 50, height: 40)
    let pixels = raster.withPixels { bytes in bytes.withUnsafeBytes { Array($0) } }
    let text = try TerminalPicture.text(of: raster, .kitty, columns: 80, rows: 24).text()
    let parts = text.dropLast().components(separatedBy: "\u{1B}\\").dropLast()
    #expect(parts.count == 2)
    #expect(parts.first?.hasPrefix("\u{1B}_Ga=T,f=24,s=50,v=40,c=5,r=2,q=2,m=1;") == true)
    #expect(parts.last?.hasPrefix("\u{1B}_Gm=0;") == true)
    let contents = parts.map { $0.components(separatedBy: ";")[1] }
    #expect(contents.allSatisfy { $0.count <= 4096 })
    #expect(try [UInt8](#require(Data(base64Encoded: contents.joined()))) == pixels)
  }

  @Test("A small picture in sixels")
  func sixel() throws {
    // Red above (bit 0), green below (bit 1), and six of a kind counted.
    let text = try TerminalPicture.text(of: .drawn("rrrrrrg", "ggggggr"), .sixel, columns: 80, rows: 24)
      .text()
    #expect(
      text == "\u{1B}P0;1;0q\"1;1;7;2#0;2;100;0;0#1;2;0;100;0#0!6@A$#1!6A@\u{1B}\\\n")
  }

  @Test("Sixels have bands of six rows, and leave out what follows the last pixel")
  func sixelBands() throws {
    let rows = try Raster.drawn("rk", "rk", "rk", "rk", "rk", "rk", "kr")
    let text = try TerminalPicture.text(of: rows, .sixel, columns: 80, rows: 24).text()
    #expect(text == "\u{1B}P0;1;0q\"1;1;2;7#0;2;0;0;0#1;2;100;0;0#0?~$#1~-#0@$#1?@\u{1B}\\\n")
  }

  @Test("Sixels of a picture with many colours use at most 256, each near what it stands for")
  func sixelPalette() throws {
    let raster = try Raster.scene(width: 120, height: 90)
    let text = try TerminalPicture.text(of: raster, .sixel, columns: 80, rows: 24).text()
    let colours = text.matches(of: /#(\d+);2;(\d+);(\d+);(\d+)/)
    #expect(colours.count == 256)
    #expect(colours.map(\.output.1) == (0..<256).map { Substring("\($0)") })
    #expect(text.count(where: { $0 == "-" }) == 14)
  }

  @Test(
    "A picture fits its place in its proportions",
    arguments: [
      (TerminalGraphics.halfBlocks, 20, 20, 20, 5), (.halfBlocks256, 8, 1, 4, 1),
      (.halfBlocks, 500, 500, 100, 25),
    ])
  func fitted(graphics: TerminalGraphics, columns: Int, rows: Int, width: Int, height: Int) throws {
    let raster = try Raster.scene(width: 100, height: 50)
    let lines = try TerminalPicture.text(of: raster, graphics, columns: columns, rows: rows).text()
      .split(separator: "\n")
    #expect(lines.count == height)
    #expect(lines.allSatisfy { $0.count(where: { $0 == "▀" }) == width })
  }

  @Test("Without graphics there is no text, and without room an error")
  func nothing() throws {
    #expect(try TerminalPicture.text(of: .drawn("r"), .none, columns: 80, rows: 24).count == 0)
    #expect(throws: PictureError.invalidSize) {
      _ = try TerminalPicture.text(of: .drawn("r"), .sixel, columns: 0, rows: 24)
    }
    #expect(throws: PictureError.tooLarge) {
      _ = try TerminalPicture.text(of: .drawn("r"), .sixel, columns: .max, rows: 24)
    }
  }

  @Test(
    "The environment tells what the terminal can draw",
    arguments: [
      ([:], TerminalGraphics.none),
      (["TERM": "dumb", "COLORTERM": "truecolor"], .none),
      (["TERM": "xterm-kitty", "NO_COLOR": "1"], .none),
      (["TERM": "xterm-kitty", "NO_COLOR": ""], .kitty),
      (["TERM": "xterm-256color", "KITTY_WINDOW_ID": "3"], .kitty),
      (["TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"], .kitty),
      (["TERM": "foot"], .sixel),
      (["TERM": "foot-extra", "COLORTERM": "truecolor"], .sixel),
      (["TERM": "footnote"], .none),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], .sixel),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], .sixel),
      (["TERM": "xterm-256color", "KONSOLE_VERSION": "220401"], .sixel),
      (["TERM": "xterm-256color", "KONSOLE_VERSION": "211203", "COLORTERM": "truecolor"], .halfBlocks),
      (["TERM": "tmux-256color", "KITTY_WINDOW_ID": "3", "TMUX": "/tmp/x"], .halfBlocks256),
      (["TERM": "screen-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "tmux"], .halfBlocks),
      (["TERM": "xterm-256color", "COLORTERM": "24bit"], .halfBlocks),
      (["TERM": "xterm-direct"], .halfBlocks),
      (["TERM": "xterm"], .halfBlocks256),
      (["TERM": "vt100"], .none),
      (["TERM": "linux"], .none),
    ])
  func detection(environment: [String: String], expected: TerminalGraphics) {
    #expect(TerminalGraphics.detect(environment: environment) == expected)
  }
}
