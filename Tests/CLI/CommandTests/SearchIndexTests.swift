// SPDX-License-Identifier: Apache-2.0
//
// The search index of a coffer that is large enough for one, through the commands.

import Foundation
import Testing

@Suite("The search index, in commands")
struct SearchIndexCommandTests {
  private let place: Place
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with 1,100 mails.
  init() throws {
    place = try Place()
    try place.makeCoffer()
    var mbox = ""
    for number in 1...1_100 {
      mbox += "From - Thu Jan  1 00:00:00 2026\nFrom: ann@example.org\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n"
      mbox += "Subject: letter \(number)\n\n"
      mbox += number % 100 == 0 ? "The barometer falls.\n\n" : "Nothing to report.\n\n"
    }
    try place.write(mbox, to: "mails")
    let imported = try run(["message", "import", "mbox", "mails"])
    try #require(imported.status == 0, "\(imported.error)")
    #expect(!imported.error.contains("index"))
  }

  private func run(_ arguments: [String]) throws -> Place.Outcome { try place.run(arguments + Self.pass) }

  private var segments: [String] {
    let folder = place.home.path() + "/search"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map { folder + "/" + $0 }
  }

  @Test("It is made after an import, gives the same answer as a scan, and is told by status")
  func made() throws {
    #expect(segments.count == 1)
    for arguments in [["barometer"], ["from:ann", "letter", "11*"], ["falls", "--limit", "3", "--oldest"]] {
      let found = try run(["search"] + arguments)
      #expect(found.status == 0 && found.error.isEmpty)
      #expect(try run(["search", "--scan"] + arguments).output == found.output)
    }
    #expect(try run(["search", "--count", "barometer", "--json"]).output == "{\"count\":11}\n")
    #expect(try run(["search", "thermometer"]).status == 6)
    let status = try run(["status", "--json"]).output
    #expect(
      status.contains(#""index":{"byteCount":"#)
        && status.contains(#""indexed":1100,"marked":0,"segments":1}"#))
    #expect(try run(["vault", "status"]).output.contains("index     100 % of the messages, 1 segment, "))
    let doctor = try run(["doctor", "--deep"])
    #expect(
      doctor.status == 0 && doctor.output.contains("checked   the search index: 1 segment, every block\n"))
  }

  @Test("A damaged one costs no answer: it is told, in JSON too, and made again")
  func damaged() throws {
    let expected = try run(["search", "barometer"]).output
    try Data(count: 10).write(to: URL(filePath: segments[0]))
    let found = try run(["search", "barometer"])
    #expect(found.status == 0 && found.output == expected)
    #expect(
      found.error == """
        warning: the search index is damaged: messages were read one by one
        hint: 'coffer doctor --reindex' makes it again

        """)
    let json = try run(["search", "barometer", "--limit", "1", "--json"])
    #expect(json.output.contains(#""index":"damaged""#) && json.error.contains(#""code":"index_damaged""#))
    #expect(
      try run(["search", "--count", "barometer", "--json"]).output == #"{"count":11,"index":"damaged"}"#
        + "\n")
    let list = try run(["list"])
    #expect(list.status == 0 && list.output.split(separator: "\n").count == 1_100)
    #expect(list.error.contains("the search index is damaged"))
    let doctor = try run(["doctor"])
    #expect(doctor.status == 0 && doctor.output.contains("advice    the search index is damaged"))
    let mended = try run(["doctor", "--reindex"])
    #expect(mended.status == 0 && !mended.output.contains("damaged"), "\(mended.output)")
    #expect(mended.error.contains("The search index was made again: 1100 messages"), "\(mended.error)")
    #expect(segments.count == 1)
    let again = try run(["search", "barometer"])
    #expect(again.output == expected && again.error.isEmpty)
  }

  @Test("What cannot be indexed is stored, and said")
  func notUpdated() throws {
    try FileManager.default.removeItem(atPath: place.home.path() + "/search")
    try Data().write(to: URL(filePath: place.home.path() + "/search"))
    let rebuilt = try run(["doctor", "--reindex"])
    #expect(rebuilt.status == 5)
    let id = try run(["search", "barometer", "--limit", "1"]).output.prefix(36)
    let removed = try run(["remove", String(id), "--yes"])
    #expect(removed.status == 0)
    #expect(try run(["search", "--count", "barometer"]).output == "10\n")
    let erased = try run(["erase", "--yes", "--force"])
    #expect(erased.status == 0 && !place.hasCoffer)
  }

  @Test("A removed message leaves it; a backup does not take it along; erasing removes it")
  func away() throws {
    let id = try run(["search", "barometer", "--limit", "1"]).output.prefix(36)
    let former = segments
    #expect(try run(["remove", String(id), "--yes"]).status == 0)
    #expect(segments.count == 1 && segments != former)
    #expect(try run(["search", "--count", "barometer"]).output == "10\n")
    #expect(try run(["trash", "restore", String(id)]).status == 0)
    #expect(try run(["search", "--count", "barometer"]).output == "11\n")
    let backup = try run(["backup", "backup"])
    #expect(backup.status == 0, "\(backup.error)")
    #expect(try run(["erase", "--yes", "--force"]).status == 0)
    #expect(segments.isEmpty && !place.hasCoffer)
    let restored = try run(["restore", "backup"])
    #expect(restored.status == 0, "\(restored.error)")
    #expect(segments.isEmpty)
    let found = try run(["search", "--count", "barometer"])
    #expect(found.output == "11\n" && found.error.isEmpty, "\(found.error)")
    // The next command that writes makes it.
    #expect(try place.run(["add"] + Self.pass, input: "one more").status == 0)
    #expect(segments.count == 1)
    #expect(try run(["search", "--count", "barometer"]).output == "11\n")
  }
}
