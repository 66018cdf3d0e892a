// SPDX-License-Identifier: Apache-2.0

import SeededGenerators
import Testing

@testable import Captures

@Suite("Exif data that somebody made to do harm")
struct HostileExifTests {
  private func fields(_ photo: [UInt8]) -> ExifFields? { ExifFields(photo: photo.span.bytes) }

  @Test("A photo cut off anywhere has the fields that are whole", arguments: [ExifPhoto.Order.big, .little])
  func truncated(order: ExifPhoto.Order) throws {
    let photo = ExifPhoto.full(order).photo
    let whole = try #require(fields(photo))
    for count in 0..<photo.count {
      guard let read = fields(Array(photo[..<count])) else {
        #expect(count < 2)
        continue
      }
      // Each field is as in the whole photo or missing; the size may be the one that the camera gave.
      #expect(read.make == nil || read.make == whole.make)
      #expect(read.lensModel == nil || read.lensModel == whole.lensModel)
      #expect(
        read.time == nil || read.time == whole.time || read.time?.day == 5 || read.time?.offsetMinutes == nil)
      #expect(read.position == nil || read.position?.longitude == whole.position?.longitude)
      #expect(read.positionTime == nil || read.positionTime == whole.positionTime)
      #expect([nil, 640, 6000].contains(read.pixelWidth))
    }
  }

  @Test("No changed byte does anything but change fields", arguments: [ExifPhoto.Order.big, .little])
  func everyByte(order: ExifPhoto.Order) {
    let photo = ExifPhoto.full(order).photo
    for index in photo.indices {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFE, 0xFF, photo[index] ^ 1, photo[index] &+ 1] {
        var changed = photo
        changed[index] = value
        if let read = fields(changed) { check(read) }
      }
    }
  }

  @Test("Random bytes behind the right beginnings are survived")
  func randomBytes() {
    var random = SeededGenerator(seed: 20_251_004)
    for round in 0..<3_000 {
      let count = Int.random(in: 0..<400, using: &random)
      var tiff: [UInt8] = round % 2 == 0 ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8] : [0x49, 0x49, 42, 0, 8, 0, 0, 0]
      tiff += [0, UInt8.random(in: 0...20, using: &random)]
      // Bytes that are often small numbers, so that offsets and types are plausible.
      for _ in 0..<count {
        tiff.append(
          Bool.random(using: &random)
            ? 0 : UInt8.random(in: 0...(Bool.random(using: &random) ? 12 : 255), using: &random))
      }
      if let read = fields(ExifPhoto.photo(tiff)) { check(read) }
    }
  }

  /// What must be true of any fields.
  private func check(_ read: ExifFields) {
    if let orientation = read.orientation { #expect((1...8).contains(orientation)) }
    if let position = read.position {
      #expect(abs(position.latitude) <= 90 && abs(position.longitude) <= 180)
      #expect(position.altitudeMetres?.isFinite ?? true)
    }
    for text in [read.make, read.model, read.lensMake, read.lensModel] {
      #expect((text?.utf8.count ?? 0) <= 3 * TIFFDirectory.maximumTextByteCount)
    }
    #expect(!read.json.contains { $0 < 0x20 })
  }

  @Test("A directory that names itself, and two that name each other, are read once")
  func loops() throws {
    var made = ExifPhoto()
    made.first = [made.text(0x010F, "a"), made.long(0x8769, 8), made.long(0x8825, 8)]
    #expect(try #require(fields(made.photo)).make == "a")
    made.first = [made.long(0x8769, 38)]
    made.exif = [made.long(0x8769, 8), made.text(0xA434, "b")]
    #expect(try #require(fields(made.photo)).lensModel == "b")
  }

  @Test(
    "Huge counts and offsets are refused without a trap",
    arguments: [UInt32.max, UInt32.max - 1, 0x8000_0000, 0x7FFF_FFFF, 0x2000_0000, 0x1_0000])
  func hugeNumbers(number: UInt32) throws {
    var made = ExifPhoto()
    made.first = [
      ExifPhoto.Entry(tag: 0x010F, type: 2, count: number, value: made.bytes(8, 4)),
      ExifPhoto.Entry(tag: 0x0110, type: 2, count: 8, value: made.bytes(Int(number), 4)),
      ExifPhoto.Entry(tag: 0x0132, type: 2, count: 20, value: made.bytes(Int(number), 4)),
      made.long(0x8769, number), made.long(0x8825, number),
      made.short(0x0112, 3),
    ]
    var expected = ExifFields()
    expected.orientation = 3
    (expected.pixelWidth, expected.pixelHeight) = (640, 480)
    #expect(fields(made.photo) == expected)

    made.first = []
    made.exif = [
      ExifPhoto.Entry(tag: 0x829A, type: 5, count: number, value: made.bytes(8, 4)),
      ExifPhoto.Entry(tag: 0x829D, type: 5, count: 1, value: made.bytes(Int(number), 4)),
      ExifPhoto.Entry(tag: 0x8827, type: 3, count: number, value: made.bytes(8, 4)),
    ]
    expected.orientation = nil
    #expect(fields(made.photo) == expected)
    let tiff: [UInt8] = [0x4D, 0x4D, 0, 42] + made.bytes(Int(number), 4)
    #expect(fields(ExifPhoto.photo(tiff)) == fields(ExifPhoto.photo([])))
  }

  @Test(
    "Values of another type are not taken for what they are not",
    arguments: [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 13, 129, 65_535])
  func wrongTypes(type: Int) throws {
    var made = ExifPhoto.full(.big)
    func retyped(_ entries: [ExifPhoto.Entry]) -> [ExifPhoto.Entry] {
      entries.map { entry in
        var changed = entry
        changed.type = type
        return changed
      }
    }
    made.first = retyped(made.first)
    made.exif = retyped(made.exif)
    made.positioning = retyped(made.positioning)
    let read = try #require(fields(made.photo))
    let isText = type == 2 || type == 129
    #expect((read.make != nil) == isText)
    #expect((read.lensModel != nil) == isText)
    #expect((read.time != nil) == isText)
    #expect((read.fNumber != nil) == (type == 5))
    #expect(read.position == nil)
    #expect(read.positionTime == nil)
  }

  @Test("A directory of too many entries is not read, and one that lies about them ends with the bytes")
  func manyEntries() {
    let header: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]
    let make: [UInt8] = [0x01, 0x0F, 0, 2, 0, 0, 0, 2, 0x61, 0, 0, 0]
    #expect(fields(ExifPhoto.photo(header + [0x02, 0x00] + make))?.make == "a")
    #expect(fields(ExifPhoto.photo(header + [0x02, 0x01] + make))?.make == nil)
    #expect(fields(ExifPhoto.photo(header + [0xFF, 0xFF] + make))?.make == nil)
  }

  @Test("A length of a segment that is too small, or runs over the end, ends the reading")
  func segmentLengths() {
    let exif = ExifPhoto.full(.big).photo
    #expect(fields([0xFF, 0xD8, 0xFF, 0xE0, 0, 0] + exif[2...]) == ExifFields())
    #expect(fields([0xFF, 0xD8, 0xFF, 0xE0, 0, 1] + exif[2...]) == ExifFields())
    #expect(fields([0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF] + exif[2...]) == ExifFields())
    #expect(fields([0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 100_000)) == ExifFields())
  }
}
