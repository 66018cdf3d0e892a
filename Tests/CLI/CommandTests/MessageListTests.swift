// SPDX-License-Identifier: Apache-2.0
//
// Lists of messages in any width, the columns that one chooses, and the pager.

import Foundation
import MessageFormats
import Testing

@testable import CofferCommands

@Suite("Lists of messages")
struct MessageListTests {
  private static let pass = ["--passphrase-file", "pass"]

  /// A coffer with a mail that has an attachment, one without, a note and a file.
  private func place() throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    let attached = """
      From: "Ann Smith" <ann@example.org>
      Subject: the lease that you asked for, with everything that belongs to it
      Date: Mon, 02 Nov 2020 10:12:00 +0000
      MIME-Version: 1.0
      Content-Type: multipart/mixed; boundary=b

      --b

      Here.
      --b
      Content-Type: application/pdf
      Content-Disposition: attachment; filename="scan.pdf"

      %PDF
      --b--

      """
    try place.write(attached, to: "a.eml")
    try place.write(
      "From: =?utf-8?b?5ryi5a2X5ryi5a2X5ryi5a2X5ryi5a2X5ryi5a2X?= <c@example.org>\nSubject: hi\n"
        + "Date: Tue, 03 Nov 2020 10:12:00 +0000\n\nbody\n", to: "b.eml")
    try place.write("From: bare@example.org\nDate: Wed, 04 Nov 2020 10:12:00 +0000\n\nbody\n", to: "c.eml")
    let added = try place.run(
      ["message", "import", "eml", "a.eml", "b.eml", "c.eml", "--tag", "home", "--tag", "garden"] + Self.pass)
    #expect(added.status == 0)
    #expect(try place.run(["add", "--title", "a note"] + Self.pass, input: "text").status == 0)
    return place
  }

  private func columns(_ line: some StringProtocol) -> Int {
    line.unicodeScalars.reduce(0) { $0 + (0x4E00...0x9FFF ~= $1.value ? 2 : 1) }
  }

  private func onTerminal(
    _ arguments: [String], _ place: Place, columns: UInt16 = 80, environment: [String: String] = [:]
  ) throws -> (status: Int32, lines: [String]) {
    let command = try CommandOnTerminal(
      arguments + Self.pass, in: place,
      environment: ["NO_COLOR": "1", "COFFER_PAGER": "cat"].merging(environment) { $1 }, columns: columns)
    let (status, shown) = command.end()
    return (status, shown.split(separator: "\r\n").map(String.init))
  }

  @Test(
    "A row fits any terminal; what is beside the title gives way",
    arguments: [20, 30, 40, 50, 60, 70, 80, 100, 200])
  func widths(width: UInt16) throws {
    let place = try place()
    let (status, lines) = try onTerminal(["list"], place, columns: width)
    #expect(status == 0 && lines.count == 4, "\(lines)")
    for line in lines { #expect(columns(line) <= Int(width), "\(line)") }
    #expect(lines.allSatisfy { $0.wholeMatch(of: /\d  [0-9a-f]{8}  .*/) != nil })
    #expect(lines[3].contains("+  the") && !lines[2].contains("+"), "\(lines)")
    switch width {
    case 40: #expect(lines[3].contains("  2020-11  "), "\(lines)")
    case 50: #expect(lines[3].contains("  2020-11-02  +  "))
    case 60: #expect(lines[3].contains("  2020-11-02 10:12  +  "))
    case 70: #expect(lines[3].contains("  2020-11-02  Ann Smith  "))
    case 80...:
      #expect(lines[3].contains("  2020-11-02 10:12  Ann Smith  "), "\(lines)")
      #expect(lines[1].contains("  bare@example.org  ") && lines[0].contains("  text  "))
      #expect(lines[1].contains("(no title)"))
      #expect(width == 80 || lines[3].hasSuffix("  home garden"))
    default: #expect(!lines[3].contains("2020"))
    }
  }

  @Test("--columns chooses what is shown, in that order, on a terminal and on a pipe")
  func chosen() throws {
    let place = try place()
    let (_, lines) = try onTerminal(["list", "--columns", "Size, title,from"], place)
    #expect(lines[0].wholeMatch(of: #/  4 bytes  a note +text/#) != nil, "\(lines[0])")
    #expect(lines.allSatisfy { columns($0) <= 80 })
    let piped = try place.run(["list", "--columns", "number,from,attachment,size,type"] + Self.pass)
    #expect(piped.output.split(separator: "\n").map(String.init)[0] == "1\t\t\t4\ttext/plain; charset=utf-8")
    #expect(piped.output.contains("4\t\"Ann Smith\" <ann@example.org>\t+\t"))
    let found = try place.run(["search", "lease", "--columns", "title,tags"] + Self.pass)
    #expect(found.output == "the lease that you asked for, with everything that belongs to it\thome garden\n")
    let json = try place.run(["list", "--limit", "1", "--columns", "size,attachment", "--json"] + Self.pass)
    #expect(
      json.output.contains(#""attachment":false,"byteCount":4,"date""#) && json.output.contains("\"title\""))
  }

  @Test("In JSON a message has its size, whether something is attached, and a mail its sender")
  func json() throws {
    let place = try place()
    for command in [["list"], ["search", "date:2000.."]] {
      let lines = try place.run(command + ["--json"] + Self.pass).output.split(separator: "\n")
      #expect(lines.count == 4)
      #expect(lines[0].hasPrefix(#"{"attachment":false,"byteCount":4,"date":"#), "\(lines[0])")
      #expect(!lines[0].contains("\"from\""))
      #expect(
        lines[3].hasPrefix(#"{"attachment":true,"byteCount":"#)
          && lines[3].contains(#""from":"\"Ann Smith\" <"#))
    }
    #expect(try place.run(["remove", "a note", "--yes"] + Self.pass).status == 0)
    let trash = try place.run(["trash", "list", "--json"] + Self.pass).output
    #expect(trash.contains("\"removed\"") && !trash.contains("byteCount"), "\(trash)")
  }

  @Test("A file that was stored alone has no mark of an attachment, and is found as one")
  func files() throws {
    let place = try place()
    try place.write("{\"a\":1}", to: "data.json")
    try place.write("<a/>", to: "data.xml")
    for name in ["data.json", "data.xml"] { #expect(try place.run(["add", name] + Self.pass).status == 0) }
    let (_, lines) = try onTerminal(["list"], place)
    #expect(lines.filter { $0.contains("  +  ") }.count == 1 && lines.contains { $0.contains("data.json") })
    let piped = try place.run(["list", "--columns", "attachment,title"] + Self.pass).output
    #expect(piped.contains("\tdata.xml\n") && !piped.contains("+\tdata.xml"))
    let found = try place.run(["search", "has:attachment"] + Self.pass).output
    #expect(found.split(separator: "\n").count == 3)
  }

  @Test("A column that does not exist is an error that names those that do")
  func unknown() throws {
    let place = try place()
    for value in ["subject", "", "id,,title", "id,id"] {
      let refused = try place.run(["list", "--columns", value] + Self.pass)
      #expect(refused.status == 2 && refused.output.isEmpty, "\(value)")
      #expect(value == "id,id" || refused.error.contains("number, id, date, from, type, size, title, tags"))
    }
  }

  /// A script that notes its environment and shows what it reads.
  private func pager(_ place: Place, _ body: String) throws -> String {
    let path = try place.write(
      "#!/bin/sh\necho \"$LESSSECURE $LESSHISTFILE $LESS\" > \(place.folder.path())/started\n\(body)\n",
      to: "pager", mode: 0o700)
    return path
  }

  private func wasStarted(_ place: Place) -> String? {
    try? String(contentsOfFile: place.folder.path() + "/started", encoding: .utf8)
  }

  /// The terminals of these tests have 24 rows.
  private func fill(_ place: Place) throws {
    let folder = place.folder.appending(path: "notes")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for index in 10..<50 {
      try Data("note".utf8).write(to: folder.appending(path: "n\(index).txt"))
    }
    #expect(try place.run(["message", "import", "directory", "notes"] + Self.pass).status == 0)
  }

  @Test("A list longer than the screen goes through the pager, all of it, and less is to write no file")
  func paged() throws {
    let place = try place()
    let path = try pager(place, "sed 's/^/| /'")
    let short = try onTerminal(["list"], place, environment: ["COFFER_PAGER": path])
    #expect(short.lines.count == 4 && wasStarted(place) == nil, "\(short.lines)")
    try fill(place)
    let long = try onTerminal(["list"], place, environment: ["COFFER_PAGER": path])
    #expect(long.status == 0 && long.lines.count == 44 && long.lines.allSatisfy { $0.hasPrefix("| ") })
    #expect(wasStarted(place) == "1 - R\n")
    // What is said besides comes after it.
    let limited = try onTerminal(
      ["list", "--limit", "30"], place, environment: ["PAGER": path, "COFFER_PAGER": path])
    #expect(
      limited.lines.last == "... and 14 older messages" && limited.lines.count == 31, "\(limited.lines)")
  }

  @Test("A message longer than the screen goes through the pager, but not with --raw")
  func pagedMessage() throws {
    let place = try place()
    let text = (1...60).map { "line \($0)" }.joined(separator: "\n")
    #expect(try place.run(["add", "--title", "long"] + Self.pass, input: text).status == 0)
    let path = try pager(place, "sed 's/^/| /'")
    let long = try onTerminal(["show", "long"], place, environment: ["COFFER_PAGER": path])
    #expect(
      long.status == 0 && long.lines.last == "| line 60" && long.lines.allSatisfy { $0.hasPrefix("| ") })
    let wide = String(repeating: "wide ", count: 600)
    #expect(try place.run(["add", "--title", "wide"] + Self.pass, input: wide).status == 0)
    let few = try onTerminal(["show", "wide"], place, environment: ["COFFER_PAGER": path])
    #expect(
      few.lines.allSatisfy { $0.hasPrefix("| ") }, "one line of 3,000 columns is longer than the screen")
    let raw = try onTerminal(["show", "long", "--raw"], place, environment: ["COFFER_PAGER": path])
    #expect(raw.lines.count == 60 && raw.lines[0] == "line 1")
  }

  @Test("A log and a help page longer than the screen go through the pager too")
  func pagedAudit() throws {
    let place = try place()
    let path = try pager(place, "sed 's/^/| /'")
    for _ in 0..<25 { #expect(try place.run(["add"] + Self.pass, input: "x").status == 0) }
    let audit = try onTerminal(["audit"], place, environment: ["COFFER_PAGER": path])
    #expect(audit.lines.count > 25 && audit.lines.allSatisfy { $0.hasPrefix("| ") }, "\(audit.lines)")
    for arguments in [["--help"], ["help", "message", "search"]] {
      let help = try CommandOnTerminal(arguments, in: place, environment: ["COFFER_PAGER": path]).end().shown
      #expect(help.hasPrefix("| coffer") && help.contains("| example: coffer"), "\(help)")
    }
    let short = try CommandOnTerminal(
      ["slot", "list", "--help"], in: place, environment: ["COFFER_PAGER": path])
    #expect(short.end().shown.hasPrefix("coffer slot list"))
    let whole = try CommandOnTerminal(
      ["--help", "--no-pager"], in: place, environment: ["COFFER_PAGER": path])
    #expect(whole.end().shown.hasPrefix("coffer: keeps"))
  }

  @Test("Leaving the pager early is no error, and nothing more is read", arguments: ["list", "search"])
  func left(command: String) throws {
    let place = try place()
    try fill(place)
    let path = try pager(place, "head -n 3")
    let words = command == "search" ? ["search", "note", "--no-snippets"] : ["list"]
    let (status, lines) = try onTerminal(words, place, environment: ["COFFER_PAGER": path])
    #expect(status == 0 && lines.count == 3, "\(lines)")
  }

  @Test(
    "No pager: with --no-pager, before the command too, with an empty variable, off a terminal, in JSON, if it is missing"
  )
  func without() throws {
    let place = try place()
    try fill(place)
    let path = try pager(place, "cat > /dev/null")
    for (arguments, environment) in [
      (["list", "--no-pager"], ["COFFER_PAGER": path]),
      (["--no-pager", "list"], ["PAGER": path, "COFFER_PAGER": path]),
      (["list", "--json"], ["COFFER_PAGER": path]), (["list"], ["COFFER_PAGER": "", "PAGER": path]),
      (["list"], ["COFFER_PAGER": "no-such-pager"]), (["list"], ["COFFER_PAGER": path, "TERM": "dumb"]),
    ] {
      let (status, lines) = try onTerminal(arguments, place, environment: environment)
      #expect(status == 0 && lines.count == 44, "\(arguments) \(environment)")
    }
    let piped = try place.run(["list"] + Self.pass, environment: ["COFFER_PAGER": path])
    #expect(piped.output.split(separator: "\n").count == 44)
    #expect(wasStarted(place) == nil)
  }

  @Test("The first line of a text is the first that the author wrote")
  func firstLines() {
    let texts = [
      ("\n\n  hello\nmore", "hello"), ("> quoted\n\nanswer", "answer"),
      ("On Monday Ann wrote:\n> quoted\nanswer", "answer"),
      ("On Monday, Ann Smith\n<ann@example.org> wrote:\n\n> quoted\n\nanswer\n", "answer"),
      ("Buy this:\nmilk", "Buy this:"), ("> only quoted", "> only quoted"), ("", ""),
      ("\r\nline\r\n", "line"),
    ]
    for (text, line) in texts { #expect(FirstLine.of(text) == line) }
  }

  @Test("The sender is the name, without quotation marks, or else the address")
  func senders() {
    let headers = [
      ("Ann Smith <ann@example.org>", "Ann Smith"), ("\"Smith, Ann\" <ann@example.org>", "Smith, Ann"),
      ("ann@example.org", "ann@example.org"), ("<ann@example.org>", "ann@example.org"), ("", ""),
      ("\"\" <ann@example.org>", "ann@example.org"), ("Ann <", "Ann"),
    ]
    for (header, sender) in headers { #expect(MessageDetails(from: header).sender == sender) }
  }
}
