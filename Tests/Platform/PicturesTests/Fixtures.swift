// SPDX-License-Identifier: Apache-2.0
//
// Pictures that the tests make themselves, and the program that misbehaves for them.

import Extents
import Foundation
import Pictures
import Secrets

extension Raster {
  /// A picture from rows of colours, one letter each: r, g, b, w(hite), k (black), y(ellow), c(yan).
  static func drawn(_ rows: String...) throws -> Raster {
    var raster = try Raster(width: rows[0].count, height: rows.count)
    let letters: [Character: RGB8] = [
      "r": RGB8(255, 0, 0), "g": RGB8(0, 255, 0), "b": RGB8(0, 0, 255), "w": RGB8(255, 255, 255),
      "k": RGB8(0, 0, 0), "y": RGB8(255, 255, 0), "c": RGB8(0, 255, 255),
    ]
    raster.paint { x, y in letters[Array(rows[y])[x]] ?? RGB8(1, 2, 3) }
    return raster
  }

  /// A picture whose left is dark, right bright, top blue, bottom red, with a black corner at the top left.
  static func scene(width: Int, height: Int) throws -> Raster {
    var raster = try Raster(width: width, height: height)
    raster.paint { x, y in
      if x < width / 4 && y < height / 4 { return RGB8(0, 0, 0) }
      let (across, down) = (255 * x / width, 255 * y / height)
      return RGB8(UInt8(down), UInt8(across), UInt8(255 - down))
    }
    return raster
  }

  mutating func paint(_ colour: (_ x: Int, _ y: Int) -> RGB8) {
    let (width, height) = (width, height)
    withMutablePixels { pixels in
      for index in 0..<width * height {
        let colour = colour(index % width, index / width)
        pixels.storeBytes(of: colour.red, toByteOffset: 3 * index, as: UInt8.self)
        pixels.storeBytes(of: colour.green, toByteOffset: 3 * index + 1, as: UInt8.self)
        pixels.storeBytes(of: colour.blue, toByteOffset: 3 * index + 2, as: UInt8.self)
      }
    }
  }

  /// Rows of letters, as ``drawn(_:)`` takes them; what is near a colour counts as it.
  borrowing func letters() -> [String] {
    (0..<height).map { y in
      String(
        (0..<width).map { x -> Character in
          let colour = self[x, y]
          switch (colour.red > 127, colour.green > 127, colour.blue > 127) {
          case (true, false, false): return "r"
          case (false, true, false): return "g"
          case (false, false, true): return "b"
          case (true, true, true): return "w"
          case (false, false, false): return "k"
          case (true, true, false): return "y"
          case (false, true, true): return "c"
          case (true, false, true): return "m"
          }
        })
    }
  }
}

extension SecretBytes {
  borrowing func copied() -> [UInt8] { withBytes { bytes in bytes.withUnsafeBytes { Array($0) } } }
  borrowing func text() -> String { String(decoding: copied(), as: UTF8.self) }
}

enum Fixture {
  #if Pictures
    static func jpeg(width: Int, height: Int, quality: Int = 90) throws -> [UInt8] {
      try JPEGEncoder.encode(Raster.scene(width: width, height: height), quality: quality).copied()
    }

    static func png(width: Int, height: Int) throws -> [UInt8] {
      try PNGEncoder.encode(Raster.scene(width: width, height: height)).copied()
    }
  #endif

  /// A PNG written by hand, from rows with their filter bytes, deflated without compression.
  static func png(
    width: Int, height: Int, bitDepth: UInt8, colourType: UInt8, rows: [UInt8],
    extra: [(name: String, content: [UInt8])] = []
  ) -> [UInt8] {
    let count = UInt16(rows.count)
    let deflated =
      [0x78, 0x01, 0x01, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
      + rows + bigEndian(adler32(rows))
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += chunk(
      "IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [bitDepth, colourType, 0, 0, 0])
    for other in extra { file += chunk(other.name, other.content) }
    return file + chunk("IDAT", deflated) + chunk("IEND", [])
  }

  static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    return bigEndian(UInt32(content.count)) + body + bigEndian(crc32(body))
  }

  /// A grey PFM of rows given from the top.
  static func pfm(_ rows: [[Float]], isLittleEndian: Bool) -> [UInt8] {
    let header = "Pf\n\(rows[0].count) \(rows.count)\n\(isLittleEndian ? "-1.0" : "1.0")\n"
    return Array(header.utf8)
      + rows.reversed().joined().flatMap { value in
        let bytes = bigEndian(value.bitPattern)
        return isLittleEndian ? bytes.reversed() : bytes
      }
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }

  /// The program of Tests/Support/DecoderProbe, which lies beside the tests.
  static let probe = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "decoder-probe").path

  /// Ends a hang: no picture is decoded for that long, however busy the machine is.
  static let patienceSeconds = Int(Patience.seconds)
}

/// The same numbers in every run (xorshift).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
