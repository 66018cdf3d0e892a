// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Captures

@Suite("The fields that a camera wrote")
struct ExifFieldsTests {
  private func fields(_ photo: [UInt8]) -> ExifFields? { ExifFields(photo: photo.span.bytes) }

  private func fields(_ made: ExifPhoto) throws -> ExifFields { try #require(fields(made.photo)) }

  @Test("Every field is read, in both orders of bytes", arguments: [ExifPhoto.Order.big, .little])
  func everyField(order: ExifPhoto.Order) throws {
    let read = try fields(ExifPhoto.full(order))
    #expect(read.make == "Ricoh")
    #expect(read.model == "GR III")
    #expect(read.lensMake == "Ricoh")
    #expect(read.lensModel == "GR 18.3 mm “f/2.8”")
    #expect(read.orientation == 6)
    #expect(read.time?.description == "2025-10-04T17:30:05+02:00")
    #expect(read.exposureSeconds == ExifRational(10, 2500))
    #expect(read.fNumber?.value == 2.8)
    #expect(read.iso == 400)
    #expect(read.focalLengthMillimetres?.value == 18.3)
    #expect(
      read.position
        == ExifPosition(latitude: -33.8587, longitude: 151.2143333, altitudeMetres: -12.5))
    #expect(read.positionTime?.description == "2025-10-04T15:30:04Z")
    // What the picture has, not what the camera says about it.
    #expect(read.pixelWidth == 640)
    #expect(read.pixelHeight == 480)
  }

  @Test("The fields become JSON with sorted names and exact numbers")
  func json() throws {
    let text = String(decoding: try fields(ExifPhoto.full(.little)).json, as: UTF8.self)
    #expect(
      text
        == #"{"altitudeMetres":-12.5,"exposureSeconds":"1/250","fNumber":2.8,"focalLengthMillimetres":18.3,"#
        + #""iso":400,"latitude":-33.8587,"lensMake":"Ricoh","lensModel":"GR 18.3 mm “f/2.8”","#
        + #""longitude":151.2143333,"make":"Ricoh","model":"GR III","orientation":6,"pixelHeight":480,"#
        + #""pixelWidth":640,"positionTime":"2025-10-04T15:30:04Z","time":"2025-10-04T17:30:05+02:00"}"#)
    #expect(ExifFields().json == Array("{}".utf8))
    var quoted = ExifFields()
    quoted.make = "a\"b\\c\n"
    #expect(quoted.json == Array(#"{"make":"a\"b\\c\u000a"}"#.utf8))
    #expect(quoted.list.map(\.name) == ["make"])
  }

  @Test(
    "An exposure is shown as a fraction below a second, as seconds from there on",
    arguments: [(1, 250, "1/250"), (10, 600, "1/60"), (1, 1, "1"), (30, 1, "30"), (5, 2, "2.5"), (0, 5, "0")])
  func exposure(numerator: UInt32, denominator: UInt32, shown: String) {
    var made = ExifFields()
    made.exposureSeconds = ExifRational(numerator, denominator)
    #expect(made.list.first?.text == shown)
  }

  @Test("The time is the first that the camera wrote, with its own offset and no invented one")
  func times() throws {
    var made = ExifPhoto()
    made.first = [made.text(0x0132, "2025:10:05 08:00:00")]
    #expect(try fields(made).time?.description == "2025-10-05T08:00:00")
    made.exif = [made.text(0x9010, "-09:30")]
    #expect(try fields(made).time?.description == "2025-10-05T08:00:00-09:30")
    made.exif = [made.text(0x9004, "2025:10:04 07:00:00"), made.text(0x9012, "+00:00")]
    #expect(try fields(made).time?.description == "2025-10-04T07:00:00Z")
    made.exif = [made.text(0x9003, "0000:00:00 00:00:00"), made.text(0x9012, "+00:00")]
    #expect(try fields(made).time?.description == "2025-10-05T08:00:00")
    made.exif = [made.text(0x9003, "2025:10:03 06:00:00"), made.text(0x9011, "east")]
    #expect(try fields(made).time?.description == "2025-10-03T06:00:00")
  }

  @Test(
    "Text that is not a date, time or offset gives nil",
    arguments: [
      "2025:02:29 00:00:00", "2025:13:01 00:00:00", "2025:00:01 00:00:00", "2025:01:00 00:00:00",
      "2025:01:01 24:00:00", "2025:01:01 00:60:00", "2025:01:01 00:00:61", "2025-01-01 00:00:00",
      "2025:01:01T00:00:00", "2025:01:01 00:00", "2025:01:01 00:00:00 ", "+025:01:01 00:00:00",
      "    :  :     :  :  ", "",
    ])
  func noTime(text: String) {
    #expect((ExifTime(Array(text.utf8), offset: nil) == nil) == (text != "2025:01:01 00:00:00"))
  }

  @Test(
    "Offsets are read only when they are exact",
    arguments: ["Z", "+24:00", "+2:00", "02:00 ", "+02:60", "*02:00"])
  func noOffset(text: String) {
    let time = ExifTime(Array("2024:02:29 23:59:60".utf8), offset: Array(text.utf8))
    #expect(time?.description == "2024-02-29T23:59:60")
  }

  @Test("Unknown and impossible values are left out")
  func outOfRange() throws {
    var made = ExifPhoto(frame: (0, 0))
    made.first = [made.short(0x0112, 9), made.text(0x010F, ""), made.text(0x0110, "   ")]
    made.exif = [
      made.rationals(0x829A, (1, 0)), made.rationals(0x829D, (0, 0)), made.rationals(0x920A, (1, 1), (2, 1)),
      made.long(0xA002, 0), made.long(0xA003, 7),
    ]
    made.positioning = [
      made.text(0x01, "N"), made.rationals(0x02, (90, 1), (0, 1), (1, 1)),
      made.text(0x03, "E"), made.rationals(0x04, (12, 1), (0, 1), (0, 1)), made.rationals(0x06, (1, 1)),
      made.rationals(0x07, (24, 1), (0, 1), (0, 1)), made.text(0x1D, "2025:10:04"),
    ]
    #expect(try fields(made) == ExifFields())
    made.positioning[1] = made.rationals(0x02, (90, 1), (0, 1), (0, 1))
    #expect(
      try fields(made).position == ExifPosition(latitude: 90, longitude: 12, altitudeMetres: 1))
    made.positioning[0] = made.text(0x01, "X")
    #expect(try fields(made).position == nil)
    made.positioning[0] = made.text(0x01, "S")
    made.positioning[1] = made.rationals(0x02, (0, 1), (0, 1), (0, 1))
    #expect(try fields(made).position?.latitude.sign == .plus)
  }

  @Test("A sensitivity above 16 bits is read from the wider field")
  func highSensitivity() throws {
    var made = ExifPhoto()
    made.exif = [made.short(0x8827, 65_535), made.long(0x8832, 204_800)]
    #expect(try fields(made).iso == 204_800)
    made.exif = [made.short(0x8827, 65_535)]
    #expect(try fields(made).iso == 65_535)
  }

  @Test("The pixel size comes from the Exif data when the frame does not say it")
  func sizeWithoutFrame() throws {
    var made = ExifPhoto(frame: nil)
    made.exif = [made.short(0xA002, 4032), made.short(0xA003, 3024)]
    #expect(try fields(made).pixelWidth == 4032)
    #expect(try fields(made).pixelHeight == 3024)
  }

  @Test("Exif data behind other segments and fill bytes are found, and the first ones count")
  func otherSegments() throws {
    var made = ExifPhoto.full(.big)
    let other = ExifPhoto(first: [ExifPhoto().text(0x010F, "Other")])
    let comment: [UInt8] = [0xFF, 0xFE, 0, 5, 1, 2, 3]
    let extensible: [UInt8] = [0xFF, 0xE1, 0, 8] + Array("http:/".utf8)
    made.before = comment + extensible + [0xFF, 0xFF]
    #expect(try fields(made).make == "Ricoh")
    made.before = Array(other.photo[2..<other.photo.count - 25])
    #expect(try fields(made).make == "Other")
  }

  @Test("What would steer a terminal is replaced in texts")
  func controlCharacters() throws {
    var made = ExifPhoto()
    made.first = [
      made.text(0x010F, "a\u{1B}[2Jb\u{202E}c\nd\u{9B}e\u{2028}"),
      ExifPhoto.Entry(tag: 0x0110, type: 2, count: 6, value: [0x61, 0xFF, 0x62, 0, 0x63, 0x64]),
    ]
    let read = try fields(made)
    #expect(read.make == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}d\u{FFFD}e\u{FFFD}")
    #expect(read.model == "a\u{FFFD}b")
  }

  @Test("What is not a JPEG file has no fields; one without Exif data has its size")
  func otherFormats() throws {
    #expect(fields([]) == nil)
    #expect(fields([0xFF]) == nil)
    #expect(fields([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == nil)
    #expect(fields([0xFF, 0xD8]) == ExifFields())
    var expected = ExifFields()
    (expected.pixelWidth, expected.pixelHeight) = (2, 3)
    #expect(
      fields([0xFF, 0xD8, 0xFF, 0xC2, 0, 11, 8, 0, 3, 0, 2, 1, 1, 0x11, 0, 0xFF, 0xDA]) == expected)
  }
}
