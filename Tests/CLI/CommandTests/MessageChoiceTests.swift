// SPDX-License-Identifier: Apache-2.0
//
// Messages named as a terminal shows them: by line, by the end of the id, and asked about before they are removed.

import Foundation
import Testing

@Suite("Which message is meant")
struct MessageChoiceTests {
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with these notes, each of which holds its own title.
  private func place(_ titles: [String]) throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    try FileManager.default.createDirectory(
      at: place.folder.appending(path: "run"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for title in titles {
      #expect(try place.run(["add", "--title", title] + Self.pass, input: "about \(title)").status == 0)
    }
    return place
  }

  /// Runs a script in one session of a terminal, and returns what it showed.
  private func session(_ place: Place, _ script: String) throws -> String {
    let words = script.replacing("coffer ", with: "'\(Place.coffer.path)' ")
    let run = place.folder.path() + "/run"
    return try CommandOnTerminal(
      ["-c", words], in: place, environment: ["NO_COLOR": "1", "XDG_RUNTIME_DIR": run],
      program: URL(filePath: "/bin/sh")
    ).end().shown
  }

  @Test("@N is line N of the last list or search in the same session, and of no other")
  func lines() throws {
    let place = try place(["oak", "pine", "elm"])
    let shown = try session(
      place,
      """
      coffer list --passphrase-file pass; coffer show @2 --raw --passphrase-file pass; echo
      coffer search oak --no-snippets --passphrase-file pass; coffer show @1 --raw --passphrase-file pass; echo
      coffer show @2 --passphrase-file pass
      """)
    let lines = shown.split(separator: "\r\n")
    #expect(lines.count == 7)
    #expect(
      lines[0].wholeMatch(of: /1  [0-9a-f]{8}  \d{4}-\d\d-\d\d \d\d:\d\d  text +elm/) != nil, "\(lines[0])")
    #expect(lines[1].contains("pine") && lines[2].contains("oak"))
    #expect(lines[3] == "about pine")
    #expect(lines[4].hasSuffix("oak") && lines[5] == "about oak")
    #expect(lines[6] == "coffer: the last list has 1 line")
    let other = try session(place, "coffer show @1 --passphrase-file pass")
    #expect(other.contains("this terminal has shown no list of messages yet"))
    // The folder holds ids, and nothing of what the messages are called.
    let files = try FileManager.default.subpathsOfDirectory(atPath: place.folder.path() + "/run")
    let lists = files.filter { $0.contains("list-") }
    #expect(lists.count == 1)
    for list in lists {
      let path = place.folder.path() + "/run/" + list
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(!text.contains("oak") && !text.contains("pine"))
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("A list that is cut off says how many more there are")
  func more() throws {
    let place = try place(["oak", "pine", "elm"])
    let shown = try session(place, "coffer list --limit 1 --passphrase-file pass")
    #expect(shown.contains("elm") && shown.hasSuffix("... and 2 older messages\r\n"))
  }

  @Test("A removal names what it takes and asks; anything but yes removes nothing")
  func removing() throws {
    let place = try place(["oak", "pine", "elm"])
    let kept = try CommandOnTerminal(["remove", "oak", "pine"] + Self.pass, in: place)
    let shown = try kept.answer("Move 2 messages to the trash? [y/N]: ", "n")
    #expect(shown.contains("oak, 9 bytes") && shown.contains("pine, 10 bytes") && !shown.contains("elm"))
    let end = kept.end()
    #expect(end.status == 7 && end.shown.contains("nothing was removed"))
    let removed = try CommandOnTerminal(["remove", "oak", "pine"] + Self.pass, in: place)
    try removed.answer("Move 2 messages to the trash? [y/N]: ", "y")
    #expect(removed.end().status == 0)
    let left = try place.run(["list"] + Self.pass).output
    #expect(left.contains("elm") && left.split(separator: "\n").count == 1)
  }

  @Test("A title that cannot be read is damage and not a missing message; the id still removes it")
  func damaged() throws {
    let place = try place(["oak", "pine"])
    let id = try place.run(["list"] + Self.pass).output.split(separator: "\n")[1].prefix(36)
    try place.damageMessages(1)
    let shown = try place.run(["show", "oak"] + Self.pass)
    #expect(shown.status == 5 && shown.error.contains("1 message corrupted or tampered"), "\(shown.error)")
    #expect(try place.run(["show", "pine", "--raw"] + Self.pass).output == "about pine")
    let asked = try CommandOnTerminal(["remove", String(id)] + Self.pass, in: place)
    let question = try asked.answer("Move 1 message to the trash? [y/N]: ", "y")
    #expect(question.contains("corrupted or tampered: it cannot be read"))
    #expect(asked.end().status == 0)
    let left = try place.run(["list"] + Self.pass)
    #expect(left.status == 0 && left.output.contains("pine"))
  }

  @Test("Times on a terminal are local, with their zone, and RFC 3339 on a pipe")
  func times() throws {
    let place = try place([])
    let mail = "Date: Thu, 22 Jan 2026 23:30:00 +0000\r\nSubject: late\r\n\r\nbody\r\n"
    try place.write(mail, to: "late.eml")
    let zone = ["TZ": "XST-3", "NO_COLOR": "1"]
    #expect(try place.run(["add", "late.eml"] + Self.pass).status == 0)
    let list = try CommandOnTerminal(["list"] + Self.pass, in: place, environment: zone).end().shown
    #expect(list.contains(/2026-01-23 02:30 +late/))
    let show = try CommandOnTerminal(["show", "late"] + Self.pass, in: place, environment: zone).end().shown
    #expect(show.contains("Date:  2026-01-23 02:30 XST"))
    let piped = try place.runProcess(["list"] + Self.pass, environment: zone).output
    #expect(piped.contains("2026-01-22T23:30:00Z"))
    // A search means the days that a list shows.
    for (date, status) in [
      ("date:2026-01-23", 0), ("date:2026-01-22", 6), ("after:2026-01-23", 0), ("before:2026-01-22", 6),
    ] as [(String, Int32)] {
      #expect(
        try place.runProcess(["search", date] + Self.pass, environment: zone).status == status, "\(date)")
      #expect(try place.run(["search", date] + Self.pass).status == 6 - status, "\(date) in UTC")
    }
  }

  @Test("Of captures @N is a line of their own last list, whatever messages were listed since")
  func captureLines() throws {
    let place = try place(["oak", "pine"])
    for name in ["meter", "leak"] {
      try place.write("photo of a \(name)", to: "\(name).jpg")
      #expect(try place.run(["capture", "add", "\(name).jpg", "--title", name] + Self.pass).status == 0)
    }
    let lines = try session(
      place,
      """
      coffer capture show @1 --passphrase-file pass
      coffer capture list --passphrase-file pass; coffer list --passphrase-file pass
      coffer capture set @2 --title dial --passphrase-file pass
      coffer capture list --passphrase-file pass; coffer capture show @3 --passphrase-file pass
      """
    ).split(separator: "\r\n")
    #expect(lines[0] == "coffer: this terminal has shown no list of captures yet")
    #expect(lines[1] == "hint: 'coffer capture list' shows one")
    #expect(
      lines[2].wholeMatch(of: /1  [0-9a-f]{8}  \d{4}-\d\d-\d\d \d\d:\d\d .*  leak/) != nil, "\(lines[2])")
    #expect(lines[3].hasPrefix("2  ") && lines[3].hasSuffix("meter"))
    #expect(lines.dropFirst(4).contains { $0.hasPrefix("2  ") && $0.hasSuffix("dial") }, "\(lines)")
    #expect(lines.last == "coffer: the last list has 2 lines")
  }

  @Test("@N after a list of the other kind alone names the command that shows the line")
  func otherKind() throws {
    let place = try place(["oak"])
    try place.write("photo of a meter", to: "meter.jpg")
    #expect(try place.run(["capture", "add", "meter.jpg"] + Self.pass).status == 0)
    func hint(after list: String, _ show: String) throws -> String? {
      try session(place, "coffer \(list) --passphrase-file pass; coffer \(show) --passphrase-file pass")
        .split(separator: "\r\n").last.map(String.init)
    }
    #expect(
      try hint(after: "capture list", "show @1")
        == "hint: @1 is one of the last captures: coffer capture show @1")
    #expect(try hint(after: "capture list", "show @2") == "hint: 'coffer message list' shows one")
    #expect(
      try hint(after: "list", "capture show @1") == "hint: @1 is one of the last messages: coffer show @1")
  }

  @Test(
    "A day on which clocks go back over midnight has all of its seconds, and no other day's",
    arguments: [
      // St. John's until 2011: 00:01 became 23:01 of the day before. Then Havana: 01:00 became 00:00.
      (
        "NST3:30NDT2:30,M3.2.0/0:01,M11.1.0/0:01",
        [
          ("2026-10-31T02:29:59Z", "before"), ("2026-10-31T02:30:00Z", "day"),
          ("2026-11-01T02:29:59Z", "day"),
          ("2026-11-01T03:00:00Z", "day"), ("2026-11-01T03:29:59Z", "day"), ("2026-11-01T03:31:00Z", "after"),
        ]
      ),
      (
        "CST5CDT4,M3.2.0/0,M11.1.0/1",
        [
          ("2026-10-31T03:59:59Z", "before"), ("2026-10-31T04:00:00Z", "day"),
          ("2026-11-01T03:59:59Z", "day"),
          ("2026-11-01T04:00:00Z", "after"), ("2026-11-01T05:30:00Z", "after"),
          ("2026-11-02T04:59:59Z", "after"),
        ]
      ),
    ] as [(String, [(date: String, title: String)])])
  func clocksGoBack(zone: String, messages: [(date: String, title: String)]) throws {
    let place = try place([])
    let lines = messages.enumerated().map { index, message in
      "{\"title\":\"\(message.title) \(index)\",\"date\":\"\(message.date)\",\"content\":\"\(index)\"}\n"
    }
    try place.write(lines.joined(), to: "days.jsonl")
    #expect(try place.run(["message", "import", "jsonl", "days.jsonl"] + Self.pass).status == 0)
    func found(_ search: String) throws -> [String] {
      try place.runProcess(["search", search] + Self.pass, environment: ["TZ": zone]).output
        .split(separator: "\n").map { String($0.split(separator: "\t")[2]) }.sorted()
    }
    func named(_ titles: String...) -> [String] {
      messages.enumerated().filter { titles.contains($1.title) }.map { "\($1.title) \($0)" }.sorted()
    }
    #expect(try found("date:2026-10-31") == named("day"))
    #expect(try found("date:2026-10") == named("before", "day"))
    #expect(try found("before:2026-10-30") == named("before"))
    #expect(try Set(found("date:2026-11")).isSuperset(of: named("after")))
  }
}
