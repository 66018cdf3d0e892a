// SPDX-License-Identifier: Apache-2.0
//
// A disk that is full, or becomes full: exit code 8, and the coffer is whole. What was acknowledged is there
// as soon as there is room again.

import Extents
import Foundation
import Glibc
import SmallDisks
import Testing

@testable import CofferKit

extension CrashTests {
  @Suite("A full disk", .serialized, .enabled(if: SmallDisk.isPossible, SmallDisk.absence))
  struct FullDiskTests {
    @Test("An import keeps every message that it acknowledged before the disk was full")
    func importing() throws {
      let fixture = try CofferFixture()
      let disk = try #require(try SmallDisk(in: fixture.folder))
      let mailbox = fixture.folder + "/mails"
      try Mailbox.write(to: mailbox, count: 40_000, bodyByteCount: 60)
      try move(fixture, to: disk, file: try fixture.emptyCoffer())
      let imported = try fixture.start(["message", "import", "mbox", mailbox, "--print-ids"], on: disk).wait()
      #expect(imported.end == .exited(8), "\(imported)")
      #expect(!imported.wholeLines.isEmpty)
      let listFull = try fixture.start(["message", "list", "--json"], on: disk).wait()
      #expect([.exited(0), .exited(8)].contains(listFull.end), "\(listFull)")

      try bringBack(fixture, from: disk)
      let outcome = try fixture.check(imported, acknowledged: Set(imported.wholeLines))
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
      let fixture = try CofferFixture()
      _ = try fixture.filledCoffer(count: 200) { coffer in
        for _ in 0..<800 { coffer.audit(.messagesAdded, count: 1) }
      }
      return (
        file: try Data(contentsOf: URL(filePath: fixture.database)),
        lines: Set(try fixture.run("message", "list", "--json").lines)
      )
    }

    @Test("A command on a full disk is done or says so, and the coffer is whole", arguments: commands)
    func command(words: [String]) throws {
      let fixture = try CofferFixture()
      let disk = try #require(try SmallDisk(in: fixture.folder))
      let (file, before) = try Self.sample.get()
      #expect(before.count == 200)
      let named = [
        "NOTE": fixture.phraseFile, "NEW": fixture.newPassphraseFile, "WORDS": fixture.folder + "/words",
      ]
      var table: [[String]] = []
      let shares = Shares("a full disk: " + words.joined(separator: " "), count: 8)
      for left in shares.of(Array(stride(from: 0, through: 120 << 10, by: 8 << 10))) {
        disk.empty()
        unlink(fixture.folder + "/words")
        try move(fixture, to: disk, file: file)
        try disk.fill(leaving: left)
        let run = try fixture.start(words.map { named[$0] ?? $0 }, on: disk).wait()
        #expect([.exited(0), .exited(8)].contains(run.end), "\(left) bytes free: \(run)")
        #expect(run.isDone || access(fixture.folder + "/words", F_OK) != 0, "words that open nothing")
        table.append(["\(left >> 10) KiB free", "\(run.end)"])

        try bringBack(fixture, from: disk)
        // The new passphrase is named among the words of the one command that changes it.
        let isChanged = words.contains("NEW") && run.isDone
        let secret = ["--passphrase-file", isChanged ? fixture.newPassphraseFile : fixture.passphraseFile]
        let list = try fixture.run("message", "list", "--json", secret: secret)
        #expect(list.isDone && before.isSubset(of: list.lines), "\(left) bytes free: \(run), then \(list)")
        let doctor = try fixture.run("doctor", "--deep", secret: secret)
        #expect(doctor.isDone, "\(left) bytes free: \(run), then \(doctor)")
      }
      let first = table.first { $0[1] == "exited(0)" }?[0] ?? "never"
      printTable("'\(words.prefix(2).joined(separator: " "))' on a full disk", [["done with", first]])
    }

    @Test("A coffer is made whole on a disk that is nearly full, or not at all")
    func making() throws {
      let fixture = try CofferFixture()
      let disk = try #require(try SmallDisk(in: fixture.folder))
      for left in Shares("a full disk: init", count: 8).of(
        Array(stride(from: 0, through: 160 << 10, by: 8 << 10)))
      {
        disk.empty()
        try? FileManager.default.removeItem(atPath: disk.path + "/coffer")
        unlink(fixture.folder + "/words")
        try disk.fill(leaving: left)
        let run = try fixture.start(["init", "--recovery-phrase-out", fixture.folder + "/words"], on: disk)
          .wait()
        #expect([.exited(0), .exited(8)].contains(run.end), "\(left) bytes free: \(run)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: disk.path + "/coffer")) ?? []
        #expect(CofferFixture.names.isSuperset(of: names), "\(left) bytes free: \(names)")
        #expect(names.contains("coffer.db") == run.isDone, "\(left) bytes free: \(run)")
        #expect((access(fixture.folder + "/words", F_OK) == 0) == run.isDone, "\(left) bytes free: \(run)")
      }
    }

    @Test("An export onto a full disk leaves no file", arguments: ["mbox", "jsonl", "directory"])
    func exporting(kind: String) throws {
      let fixture = try CofferFixture()
      let disk = try #require(try SmallDisk(in: fixture.folder))
      let mailbox = fixture.folder + "/mails"
      try Mailbox.write(to: mailbox, count: 500, bodyByteCount: 10_000)
      _ = try fixture.emptyCoffer()
      #expect(try fixture.run("message", "import", "mbox", mailbox).isDone)
      let run = try CofferRun.start(
        ["message", "export", kind, disk.point + "/mails", "--home", fixture.home]
          + ["--passphrase-file", fixture.passphraseFile],
        streams: fixture.folder, environment: fixture.environment, prefix: disk.prefix
      ).wait()
      #expect(run.end == .exited(8), "\(run)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
    }

    @Test("A backup onto a full disk is whole or not there, and so is a coffer that is restored there")
    func backingUp() throws {
      let fixture = try CofferFixture()
      let disk = try #require(try SmallDisk(in: fixture.folder))
      _ = try fixture.filledCoffer(count: 200)
      let whole = fixture.folder + "/whole"
      #expect(try fixture.run("backup", whole).isDone)
      var done = 0
      let most = 1_800 << 10
      // With the most room, both are always tried.
      let shares = Shares("a full disk: backup", count: 8)
      for left in shares.of(Array(stride(from: 0, to: most, by: 150 << 10))) + [most] {
        disk.empty()
        for name in ["/backup", "/coffer"] { try? FileManager.default.removeItem(atPath: disk.path + name) }
        try disk.fill(leaving: left)
        let backup = try CofferRun.start(
          ["backup", disk.point + "/backup", "--home", fixture.home]
            + ["--passphrase-file", fixture.passphraseFile],
          streams: fixture.folder, environment: fixture.environment, prefix: disk.prefix
        ).wait()
        #expect([.exited(0), .exited(8)].contains(backup.end), "\(left) bytes free: \(backup)")
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.path)
        #expect(Set(names) == (backup.isDone ? ["filler", "backup"] : ["filler"]), "\(left) bytes free")
        if backup.isDone {
          let restored = try CofferFixture()
          #expect(try restored.run("restore", disk.path + "/backup").isDone)
          unlink(disk.path + "/backup")
        }
        let restored = try fixture.start(["restore", whole], on: disk).wait()
        #expect([.exited(0), .exited(8)].contains(restored.end), "\(left) bytes free: \(restored)")
        let home = try? FileManager.default.contentsOfDirectory(atPath: disk.path + "/coffer")
        #expect(restored.isDone == (home?.contains("coffer.db") ?? false), "\(left) bytes free: \(restored)")
        if !restored.isDone { #expect(home == nil, "\(left) bytes free: \(home ?? [])") }
        done += restored.isDone && backup.isDone ? 1 : 0
      }
      #expect(done > 0)
      #expect(try fixture.run("doctor", "--deep").isDone)
    }

    // MARK: -

    private func move(_ fixture: CofferFixture, to disk: SmallDisk, file: Data) throws {
      let home = disk.path + "/coffer"
      try? FileManager.default.removeItem(atPath: home)
      mkdir(home, 0o700)
      try file.write(to: URL(filePath: home + "/coffer.db"))
      chmod(home + "/coffer.db", 0o600)
    }

    /// Copies the files of the coffer to where there is room.
    private func bringBack(_ fixture: CofferFixture, from disk: SmallDisk) throws {
      try? FileManager.default.removeItem(atPath: fixture.home)
      try FileManager.default.copyItem(atPath: disk.path + "/coffer", toPath: fixture.home)
      chmod(fixture.home, 0o700)
    }
  }
}
