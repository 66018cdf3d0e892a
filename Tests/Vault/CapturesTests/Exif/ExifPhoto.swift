// SPDX-License-Identifier: Apache-2.0

/// Makes the beginning of a JPEG file with whatever is to be wrong about it.
struct ExifPhoto {
  enum Order { case big, little }

  struct Entry {
    var tag: Int
    var type: Int
    var count: UInt32
    var value: [UInt8]
  }

  var order = Order.big
  var first: [Entry] = []
  var exif: [Entry] = []
  var positioning: [Entry] = []
  var frame: (width: Int, height: Int)? = (640, 480)
  var before: [UInt8] = []

  func short(_ tag: Int, _ value: Int) -> Entry {
    Entry(tag: tag, type: 3, count: 1, value: bytes(value, 2))
  }

  func long(_ tag: Int, _ value: UInt32) -> Entry {
    Entry(tag: tag, type: 4, count: 1, value: bytes(Int(value), 4))
  }

  func text(_ tag: Int, _ text: String) -> Entry {
    let value = Array(text.utf8) + [0]
    return Entry(tag: tag, type: 2, count: UInt32(value.count), value: value)
  }

  func rationals(_ tag: Int, _ values: (UInt32, UInt32)...) -> Entry {
    Entry(
      tag: tag, type: 5, count: UInt32(values.count),
      value: values.flatMap { bytes(Int($0.0), 4) + bytes(Int($0.1), 4) })
  }

  func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    let big = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    return order == .big ? big : big.reversed()
  }

  /// The TIFF structure: the three directories, each with its values behind it.
  var tiff: [UInt8] {
    var output: [UInt8] = (order == .big ? [0x4D, 0x4D] : [0x49, 0x49]) + bytes(42, 2) + bytes(8, 4)
    let pointerCount = (exif.isEmpty ? 0 : 1) + (positioning.isEmpty ? 0 : 1)
    let exifOffset = 8 + 6 + 12 * pointerCount + (first.isEmpty ? 0 : byteCount(first) - 6)
    var entries = first
    if !exif.isEmpty { entries.append(long(0x8769, UInt32(exifOffset))) }
    if !positioning.isEmpty { entries.append(long(0x8825, UInt32(exifOffset + byteCount(exif)))) }
    output += directory(entries, at: 8)
    if !exif.isEmpty { output += directory(exif, at: output.count) }
    if !positioning.isEmpty { output += directory(positioning, at: output.count) }
    return output
  }

  var photo: [UInt8] { Self.photo(tiff, frame: frame, before: before) }

  static func photo(
    _ tiff: [UInt8], frame: (width: Int, height: Int)? = (640, 480), before: [UInt8] = []
  ) -> [UInt8] {
    var output: [UInt8] = [0xFF, 0xD8] + before
    let content = Array("Exif\0\0".utf8) + tiff
    output += [0xFF, 0xE1, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    if let frame {
      output += [
        0xFF, 0xC0, 0, 11, 8, UInt8(frame.height >> 8), UInt8(frame.height & 0xFF),
        UInt8(frame.width >> 8), UInt8(frame.width & 0xFF), 1, 1, 0x11, 0,
      ]
    }
    return output + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0, 0xFF, 0xD9]
  }

  private func byteCount(_ entries: [Entry]) -> Int {
    entries.isEmpty
      ? 0 : 6 + entries.reduce(0) { $0 + 12 + ($1.value.count > 4 ? $1.value.count : 0) }
  }

  private func directory(_ entries: [Entry], at offset: Int) -> [UInt8] {
    var output = bytes(entries.count, 2)
    var values: [UInt8] = []
    for entry in entries {
      output += bytes(entry.tag, 2) + bytes(entry.type, 2) + bytes(Int(entry.count), 4)
      if entry.value.count > 4 {
        output += bytes(offset + 6 + 12 * entries.count + values.count, 4)
        values += entry.value
      } else {
        output += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
      }
    }
    return output + bytes(0, 4) + values
  }

  /// A photo with every field.
  static func full(_ order: Order) -> ExifPhoto {
    var made = ExifPhoto(order: order)
    made.first = [
      made.text(0x010F, "Ricoh"), made.text(0x0110, "GR III  "), made.short(0x0112, 6),
      made.text(0x0132, "2025:10:05 08:00:00"),
    ]
    made.exif = [
      made.rationals(0x829A, (10, 2500)), made.rationals(0x829D, (28, 10)), made.short(0x8827, 400),
      made.text(0x9003, "2025:10:04 17:30:05"), made.text(0x9011, "+02:00"),
      made.rationals(0x920A, (183, 10)), made.long(0xA002, 6000), made.long(0xA003, 4000),
      made.text(0xA433, "Ricoh"), made.text(0xA434, "GR 18.3 mm \u{201C}f/2.8\u{201D}"),
    ]
    made.positioning = [
      made.text(0x01, "S"), made.rationals(0x02, (33, 1), (51, 1), (3132, 100)),
      made.text(0x03, "E"), made.rationals(0x04, (151, 1), (12, 1), (5160, 100)),
      ExifPhoto.Entry(tag: 0x05, type: 1, count: 1, value: [1]), made.rationals(0x06, (125, 10)),
      made.rationals(0x07, (15, 1), (30, 1), (499, 100)), made.text(0x1D, "2025:10:04"),
    ]
    return made
  }
}
