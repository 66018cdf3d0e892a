// SPDX-License-Identifier: Apache-2.0
//
// Encrypted messages on a terminal: bars, names of files, questions, and what is left after Control-C.

import CofferKit
import Foundation
import PseudoTerminals
import Testing

@testable import CofferCommands

@Suite("Encrypted messages on a terminal")
struct LetterTests {
  private static let pass = ["--passphrase-file", "pass"]

  private func placeWithIdentity() throws -> Place {
    let place = try Place()
    try place.makeCoffer()
    let made = try place.run(
      ["identity", "generate", "--user-id", "Ada <ada@example.org>", "--quiet"] + Self.pass)
    #expect(made.status == 0, "\(made.error)")
    return place
  }

  private func encrypt(_ text: String, in place: Place, to file: String = "letter.pgp") throws {
    let made = try place.run(["encrypt", "--to", "me", "--output", file] + Self.pass, input: text)
    #expect(made.status == 0, "\(made.error)")
  }

  @Test("Of a ciphertext that cannot be read it is said that it is one")
  func damagedBeginning() throws {
    let place = try placeWithIdentity()
    try encrypt("Dear me", in: place)
    let file = place.folder.appending(path: "letter.pgp")
    try Data(contentsOf: file).prefix(30).write(to: file)
    let outcome = try place.run(["decrypt", "letter.pgp", "--json", "--output", "out"] + Self.pass)
    #expect(
      outcome.status == 7 && outcome.error.contains("is an encrypted OpenPGP message that"), "\(outcome)")
  }

  @Test("No line of a text can leave its bar, look like one of ours, or control the terminal")
  func bars() {
    let hostile =
      "a\tb\r\n── decrypted; signed by you ──\n\u{1B}[2J\u{202E}x\n\n" + String(repeating: "w", count: 25)
    #expect(
      BarredText.lines(hostile, width: 20) == [
        "a       b", "── decrypted; sign", "ed by you ──", "\u{FFFD}[2J\u{FFFD}x", "",
        String(repeating: "w", count: 20), "wwwww",
      ])
    #expect(BarredText.lines("日本語", width: 4) == ["日本", "語"])
    #expect(BarredText.lines("", width: 20) == [])
    // What takes one column or two, as the terminal likes; marks and joiners that it may not know.
    for text in [
      "ααααααααααα", "яяяяяяяяяяя", "±±±±±±±±±±±", "①①①①①①①①①①①", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
    ] {
      #expect(BarredText.lines(text, width: 8).allSatisfy { $0.unicodeScalars.count <= 4 }, "\(text)")
    }
    let marked = String(repeating: "e\u{301}", count: 20) + String(repeating: "1\u{FE0F}\u{20E3}", count: 9)
    #expect(BarredText.lines(marked, width: 10).allSatisfy { $0.unicodeScalars.count <= 10 })
    // Direction marks, isolates, invisible separators, line ends of other kinds.
    for code: UInt32 in [
      0x202A, 0x202E, 0x2066, 0x2069, 0x200E, 0x200F, 0x061C, 0x200B, 0x2060, 0x2028, 0x2029, 0x85, 0x0B,
      0x0C, 0x0D,
    ] {
      let scalar = Unicode.Scalar(code).map(String.init) ?? ""
      #expect(BarredText.lines("a\(scalar)b", width: 20) == ["a\u{FFFD}b"], "\(String(code, radix: 16))")
    }
  }

  @Test(
    "Where a file needs a name before it is complete, it is noted, and gone if it does not become complete")
  func temporaryNames() throws {
    let place = try Place()
    let notes = UnfinishedExports(home: place.folder.path())
    let bytes: [UInt8] = [1, 2, 3]
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: place.folder.path()).sorted()
    }
    do {
      let output = try LetterOutput(path: place.folder.path() + "/text", record: notes, needsName: true)
      try output.write(bytes.span.bytes)
      let names = try files()
      #expect(names.count == 2 && names[0].hasPrefix("coffer-unfinished-") && names[1] == "unfinished")
      // It is in use: nobody else takes it for left behind.
      let found = notes.leftovers()
      #expect(found.present.isEmpty && found.unreachable.isEmpty)
      withExtendedLifetime(output) {}
    }
    #expect(try files() == [])
    let output = try LetterOutput(path: place.folder.path() + "/text", record: notes, needsName: true)
    try output.write(bytes.span.bytes)
    try output.finish()
    #expect(try files() == ["text"])
    #expect(try Data(contentsOf: place.folder.appending(path: "text")) == Data(bytes))
    #expect(throws: Failure.self) {
      _ = try LetterOutput(path: place.folder.path() + "/text", record: notes, needsName: true)
    }
    #expect(try files() == ["text"])
  }

  @Test("Names of results come from the names of files on the command line alone")
  func names() {
    #expect(LetterNames.encrypted("a/letter.txt", isArmored: false) == "a/letter.txt.pgp")
    #expect(LetterNames.encrypted("letter.txt", isArmored: true) == "letter.txt.asc")
    #expect(LetterNames.archive("a/photos//", isArmored: false) == "a/photos.tar.pgp")
    #expect(LetterNames.decrypted("a/letter.txt.PGP") == "a/letter.txt")
    #expect(LetterNames.decrypted("a/.pgp") == "a/.pgp.decrypted")
    #expect(LetterNames.decrypted("letter") == "letter.decrypted")
    #expect(LetterNames.stripped("report.pdf.sig") == "report.pdf")
    #expect(LetterNames.stripped("report.pdf") == nil)
  }

  @Test("A file that would not fit is refused with both figures")
  func room() throws {
    #expect(LetterRoom.failure(needed: 10, free: 10, "/home") == nil)
    let failure = try #require(LetterRoom.failure(needed: 2_000_000_000, free: 300_000_000, "/home"))
    #expect(failure.exit == .noRoom && failure.code == "full")
    #expect(failure.message == "this needs 2.0 GB in '/home', and 300.0 MB are free")
  }

  @Test("A text is shown between two lines of ours, after bars")
  func shown() throws {
    let place = try placeWithIdentity()
    try encrypt("Dear Ada,\n\u{1B}]0;owned\u{7}── end ──\n", in: place)
    let shown = try CommandOnTerminal(["decrypt", "letter.pgp"], in: place, environment: ["NO_COLOR": "1"])
    try shown.answer("passphrase: ", Place.passphrase)
    try shown.declineSession()
    let (status, text) = shown.end()
    #expect(status == 0)
    let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("── decrypted; signed by you, as \"Ada") })
    #expect(
      lines[(start + 1)...].prefix(3) == [
        "│ Dear Ada,", "│ \u{FFFD}]0;owned\u{FFFD}── end ──",
        "── end: 38 bytes, all of it signed and for you ──",
      ])
    #expect(!text.contains("\u{1B}]0"))
  }

  @Test("What is not text becomes a file beside the input, and overwrites nothing")
  func binary() throws {
    let place = try placeWithIdentity()
    try encrypt("\u{0}\u{1}", in: place, to: "data.bin.pgp")
    let first = try CommandOnTerminal(["decrypt", "data.bin.pgp"] + Self.pass, in: place).end()
    #expect(first.status == 0 && first.shown.contains("data.bin"), "\(first.shown)")
    #expect(try Data(contentsOf: place.folder.appending(path: "data.bin")) == Data([0, 1]))
    let second = try CommandOnTerminal(["decrypt", "data.bin.pgp"] + Self.pass, in: place).end()
    #expect(second.status == 9, "\(second.shown)")
  }

  @Test("A long text becomes a file too")
  func long() throws {
    let place = try placeWithIdentity()
    let text = String(repeating: "far too much for a screen\n", count: 50_000)
    try encrypt(text, in: place, to: "long.txt.pgp")
    let run = try CommandOnTerminal(["decrypt", "long.txt.pgp"] + Self.pass, in: place).end()
    #expect(run.status == 0 && !run.shown.contains("far too much"))
    #expect(try String(contentsOf: place.folder.appending(path: "long.txt"), encoding: .utf8) == text)
  }

  @Test("A cancelled prompt leaves no file")
  func cancelled() throws {
    let place = try placeWithIdentity()
    try place.write("hello", to: "letter.txt")
    let run = try CommandOnTerminal(["encrypt", "--to", "me", "letter.txt"], in: place)
    _ = try run.terminal.expect("passphrase: ")
    run.terminal.type("\u{03}")
    #expect(run.end().status == 3)
    let files = try FileManager.default.contentsOfDirectory(atPath: place.folder.path())
    #expect(!files.contains("letter.txt.pgp"))
  }

  @Test("A signal while the input is read ends the command, and nothing is left")
  func interrupted() throws {
    let place = try placeWithIdentity()
    let fifo = place.folder.appending(path: "in").path()
    #expect(mkfifo(fifo, 0o600) == 0)
    let unblocked = "sigprocmask(SIG_SETMASK, POSIX::SigSet->new); $SIG{INT} = 'DEFAULT'; exec @ARGV"
    let process = place.process(
      URL(filePath: "/usr/bin/perl"),
      [
        "-MPOSIX", "-e", unblocked, Place.coffer.path, "encrypt", "--to", "me", "--no-sign", "--output",
        "out",
      ]
        + Self.pass + ["in"], [:])
    let errors = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardError = errors
    try process.run()
    let writer = FileHandle(fileDescriptor: open(fifo, O_WRONLY), closeOnDealloc: true)
    // More than a pipe holds: when it is written, the command reads.
    try writer.write(contentsOf: Data(repeating: 7, count: 1 << 20))
    kill(process.processIdentifier, SIGINT)
    let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 130)
    #expect(said.contains("coffer: interrupted; nothing was written"))
    let files = try FileManager.default.contentsOfDirectory(atPath: place.folder.path())
    #expect(!files.contains { $0 == "out" || $0.hasPrefix(".coffer-") })
  }
}
