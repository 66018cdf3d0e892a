// SPDX-License-Identifier: Apache-2.0
//
// A disk that is full, or becomes full: exit code 8, and the coffer is whole. What was acknowledged is there
// as soon as there is room again.

import CofferKit
import Foundation
import Glibc
import Testing

extension CrashTests {
  @Suite("A full disk", .serialized, .enabled(if: SmallDisk.isPossible, SmallDisk.absence))
  struct FullDiskTests {
    @Test("An import keeps every message that it acknowledged before the disk was full")
    func importing() throws {
      let place = try Place()
      let disk = try #require(try SmallDisk(in: place))
      let mailbox = place.folder + "/mails"
      try Mailbox.write(to: mailbox, count: 40_000, bodyByteCount: 60)
      try move(place, to: disk, file: try place.emptyCoffer())
      let imported = try place.start(["message", "import", "mbox", mailbox, "--print-ids"], on: disk).wait()
      #expect(imported.end == .exited(8), "\(imported)")
      #expect(!imported.wholeLines.isEmpty)
      let listFull = try place.start(["message", "list", "--json"], on: disk).wait()
      #expect([.exited(0), .exited(8)].contains(listFull.end), "\(listFull)")

      try bringBack(place, from: disk)
      let outcome = try place.check(imported, acknowledged: Set(imported.wholeLines))
      printTable(
        "An import onto a full disk",
        [["acknowledged", "\(outcome.acknowledged)"], ["found", "\(outcome.found)"]])
      #expect(outcome.problems.filter { !$0.contains("exited(8)") } == [])
    }

    static let commands = [
      ["message", "add", "--title", "new", "NOTE"], ["passphrase", "change", "--new-passphrase-file", "NEW"],
      ["vault", "rotate"], ["slot", "add", "recovery", "--recovery-phrase-out", "WORDS"],
      ["message", "list", "--json"], ["doctor", "--deep"], ["doctor"],
    ]

    /// 200 messages, and an audit log of several pages: a command may find room for its deed and not for that.
    static let sample = Result {
      let place = try Place()
      _ = try place.filledCoffer(count: 200) { coffer in
        for _ in 0..<800 { coffer.note(.messagesAdded, count: 1) }
      }
      return (
        file: try Data(contentsOf: URL(filePath: place.database)),
        lines: Set(try place.run("message", "list", "--json").lines)
      )
    }

    @Test("A command on a full disk is done or says so, and the coffer is whole", arguments: commands)
    func command(words: [String]) throws {
      let place = try Place()
      let disk = try #require(try SmallDisk(in: place))
      let (file, before) = try Self.sample.get()
      #expect(before.count == 200)
      let named = [
        "NOTE": place.phraseFile, "NEW": place.newPassphraseFile, "WORDS": place.folder + "/words",
      ]
      var table: [[String]] = []
      for left in stride(from: 0, through: 120 << 10, by: 8 << 10) {
        disk.empty()
        unlink(place.folder + "/words")
        try move(place, to: disk, file: file)
        try disk.fill(leaving: left)
        let run = try place.start(words.map { named[$0] ?? $0 }, on: disk).wait()
        #expect([.exited(0), .exited(8)].contains(run.end), "\(left) bytes free: \(run)")
        #expect(run.isDone || access(place.folder + "/words", F_OK) != 0, "words that open nothing")
        table.append(["\(left >> 10) KiB free", "\(run.end)"])

        try bringBack(place, from: disk)
        // The new passphrase is named among the words of the one command that changes it.
        let isChanged = words.contains("NEW") && run.isDone
        let secret = ["--passphrase-file", isChanged ? place.newPassphraseFile : place.passphraseFile]
        let list = try place.run("message", "list", "--json", secret: secret)
        #expect(list.isDone && before.isSubset(of: list.lines), "\(left) bytes free: \(run), then \(list)")
        let doctor = try place.run("doctor", "--deep", secret: secret)
        #expect(doctor.isDone, "\(left) bytes free: \(run), then \(doctor)")
      }
      let first = table.first { $0[1] == "exited(0)" }?[0] ?? "never"
      printTable("«\(words.prefix(2).joined(separator: " "))» on a full disk", [["done with", first]])
    }

    @Test("A coffer is made whole on a disk that is nearly full, or not at all")
    func making() throws {
      let place = try Place()
      let disk = try #require(try SmallDisk(in: place))
      for left in stride(from: 0, through: 160 << 10, by: 8 << 10) {
        disk.empty()
        try? FileManager.default.removeItem(atPath: disk.path + "/coffer")
        unlink(place.folder + "/words")
        try disk.fill(leaving: left)
        let run = try place.start(["init", "--recovery-phrase-out", place.folder + "/words"], on: disk).wait()
        #expect([.exited(0), .exited(8)].contains(run.end), "\(left) bytes free: \(run)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: disk.path + "/coffer")) ?? []
        #expect(Place.names.isSuperset(of: names), "\(left) bytes free: \(names)")
        #expect(names.contains("coffer.db") == run.isDone, "\(left) bytes free: \(run)")
        #expect((access(place.folder + "/words", F_OK) == 0) == run.isDone, "\(left) bytes free: \(run)")
      }
    }

    @Test("An export onto a full disk leaves no file", arguments: ["mbox", "jsonl", "directory"])
    func exporting(kind: String) throws {
      let place = try Place()
      let disk = try #require(try SmallDisk(in: place))
      let mailbox = place.folder + "/mails"
      try Mailbox.write(to: mailbox, count: 500, bodyByteCount: 10_000)
      _ = try place.emptyCoffer()
      #expect(try place.run("message", "import", "mbox", mailbox).isDone)
      let run = try CofferRun.start(
        ["message", "export", kind, disk.point + "/mails", "--home", place.home]
          + ["--passphrase-file", place.passphraseFile],
        streams: place.folder, environment: place.environment, prefix: disk.prefix
      ).wait()
      #expect(run.end == .exited(8), "\(run)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    }

    // MARK: -

    private func move(_ place: Place, to disk: SmallDisk, file: Data) throws {
      let home = disk.path + "/coffer"
      try? FileManager.default.removeItem(atPath: home)
      mkdir(home, 0o700)
      try file.write(to: URL(filePath: home + "/coffer.db"))
      chmod(home + "/coffer.db", 0o600)
    }

    /// Copies the files of the coffer to where there is room.
    private func bringBack(_ place: Place, from disk: SmallDisk) throws {
      try? FileManager.default.removeItem(atPath: place.home)
      try FileManager.default.copyItem(atPath: disk.path + "/coffer", toPath: place.home)
      chmod(place.home, 0o700)
    }
  }
}
