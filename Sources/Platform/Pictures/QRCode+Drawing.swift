// SPDX-License-Identifier: Apache-2.0

extension QRCode {
  /// Rows of characters that ``text(in256Colours:)`` has.
  public var textRowCount: Int { (fullSideLength + 1) / 2 }

  /// The code for a terminal: two modules a character, dark on light whatever its colours are, with the light modules
  /// around it. Each line has ``fullSideLength`` columns.
  /// - Parameter in256Colours: the black and white of xterm's 256 colours, which no theme changes; else those of the
  ///   terminal's own eight.
  public func text(in256Colours: Bool) -> String {
    let start = in256Colours ? "\u{1B}[38;5;16;48;5;231m" : "\u{1B}[30;47m"
    let columns = -Self.quietZone..<sideLength + Self.quietZone
    var text = ""
    for y in stride(from: columns.lowerBound, to: columns.upperBound, by: 2) {
      text += start
      for x in columns {
        switch (isDark(x, y), isDark(x, y + 1)) {
        case (true, true): text += "█"
        case (true, false): text += "▀"
        case (false, true): text += "▄"
        case (false, false): text += " "
        }
      }
      text += "\u{1B}[0m\n"
    }
    return text
  }

  /// Pixels a side of a module in ``png()``.
  public static let pixelsAModule = 8

  /// The code as a PNG in grey, with the light modules around it.
  /// - Throws: ``PictureError/encodingFailed``; ``PictureError/notBuilt``.
  public func png() throws(PictureError) -> [UInt8] {
    #if Pictures
      let side = fullSideLength * Self.pixelsAModule
      var grey = [UInt8](repeating: 255, count: side * side)
      for y in 0..<side {
        for x in 0..<side
        where isDark(x / Self.pixelsAModule - Self.quietZone, y / Self.pixelsAModule - Self.quietZone) {
          grey[y * side + x] = 0
        }
      }
      return try PNGEncoder.encode(grey: grey, width: side, height: side)
    #else
      throw .notBuilt
    #endif
  }
}
