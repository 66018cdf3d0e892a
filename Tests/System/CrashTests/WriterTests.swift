// SPDX-License-Identifier: Apache-2.0
//
// Two commands at once: one writer at a time, and readers are never kept waiting.

import CofferKit
import Foundation
import Glibc
import Testing

extension CrashTests {
  @Suite("Two at once", .serialized)
  struct WriterTests {
    @Test("While an import writes, readers read and a second writer is told to wait")
    func twoWriters() throws {
      let fixture = try CofferFixture()
      _ = try fixture.filledCoffer(count: 20)
      let pipe = fixture.folder + "/mails"
      #expect(mkfifo(pipe, 0o600) == 0)
      let streams = fixture.folder + "/import"
      try FileManager.default.createDirectory(atPath: streams, withIntermediateDirectories: false)
      // Opened for both ways, so that this does not wait for the reader, nor the reader see an end.
      let writer = open(pipe, O_RDWR | O_CLOEXEC)
      #expect(writer >= 0)
      let importing = try fixture.start(["message", "import", "mbox", pipe, "--print-ids"], streams: streams)
      let mail = Array(Mailbox.mail(1).utf8)
      #expect(write(writer, mail, mail.count) == mail.count)
      try waitForLock(fixture.home + "/coffer.lock")

      let writers = [
        ["message", "add", fixture.phraseFile], ["vault", "rotate"],
        ["passphrase", "change", "--new-passphrase-file", fixture.newPassphraseFile],
      ]
      for words in writers {
        let run = try fixture.start(words).wait()
        #expect(run.end == .exited(9), "\(run)")
        // It ended while the other still writes, so it did not wait for that.
        #expect(isLocked(fixture.home + "/coffer.lock"))
      }
      let readers = [
        ["message", "list", "--json"], ["doctor", "--deep"], ["status"], ["message", "search", "note"],
      ]
      for words in readers {
        let run = try fixture.start(words).wait()
        #expect(run.isDone, "\(run)")
        #expect(isLocked(fixture.home + "/coffer.lock"))
        if words.contains("list") { #expect(run.lines.count == 20) }
      }

      close(writer)
      let imported = try importing.wait()
      #expect(imported.isDone && imported.lines.count == 1, "\(imported)")
      #expect(try fixture.run("message", "add", fixture.phraseFile).isDone)
      #expect(try fixture.run("message", "list", "--json").lines.count == 22)
    }

    @Test("Of several commands that make a coffer at once one succeeds; the others leave nothing behind")
    func severalInits() throws {
      let fixture = try CofferFixture()
      for round in 0..<12 {
        let home = fixture.folder + "/homes/\(round)"
        let words = (0..<4).map { "\(fixture.folder)/words-\(round)-\($0)" }
        let started = try words.enumerated().map { number, words in
          let streams = fixture.folder + "/init-\(round)-\(number)"
          try FileManager.default.createDirectory(atPath: streams, withIntermediateDirectories: false)
          return try CofferRun.start(
            [
              "init", "--home", home, "--kdf", "pbkdf2", "--passphrase-file", fixture.passphraseFile,
              "--recovery-phrase-out", words,
            ], streams: streams, environment: fixture.environment)
        }
        let runs = try started.map { try $0.wait() }
        let winners = runs.indices.filter { runs[$0].isDone }
        #expect(winners.count == 1, "\(runs)")
        #expect(runs.allSatisfy { $0.isDone || $0.end == .exited(9) }, "\(runs)")
        let names = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(CofferFixture.names.isSuperset(of: names), "\(names)")
        // Words are there for the coffer that is there, and open it.
        let kept = words.filter { access($0, F_OK) == 0 }
        #expect(kept == winners.map { words[$0] })
        for words in kept {
          let drill = try CofferRun.start(
            ["recovery", "drill", "--home", home, "--phrase-file", words], streams: fixture.folder,
            environment: fixture.environment)
          #expect(try drill.wait().isDone)
        }
      }
    }

    /// Whether another process holds the lock.
    private func isLocked(_ path: String) -> Bool {
      let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(lock) }
      return flock(lock, LOCK_EX | LOCK_NB) != 0
    }

    /// Until another process holds the lock.
    private func waitForLock(_ path: String) throws {
      let start = ContinuousClock.now
      while !isLocked(path) {
        usleep(1_000)
        try #require(
          ContinuousClock.now - start < .seconds(CofferRun.limitSeconds), "the import never took the lock")
      }
    }
  }
}
