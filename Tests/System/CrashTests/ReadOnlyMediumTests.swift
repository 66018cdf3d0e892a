// SPDX-License-Identifier: Apache-2.0
//
// A coffer on a medium that is mounted read-only: a backup on a disc, say.

import CofferKit
import Foundation
import Glibc
import MessageFormats
import SmallDisks
import Testing
import Vaults

extension CrashTests {
  @Suite("A read-only medium", .serialized, .enabled(if: SmallDisk.isPossible, SmallDisk.absence))
  struct ReadOnlyMediumTests {
    private static let words = [["message", "list", "--json"], ["doctor", "--deep"], ["status"]]

    /// A disk with the coffer of `place` on it, and no way to write.
    private func disk(_ fixture: CofferFixture) throws -> SmallDisk {
      let disk = try #require(try SmallDisk(in: fixture.folder))
      try FileManager.default.copyItem(atPath: fixture.home, toPath: disk.path + "/coffer")
      try #require(try disk.makeReadOnly())
      return disk
    }

    @Test("A coffer that was closed is read there, and a change is refused with the reason")
    func closed() throws {
      let fixture = try CofferFixture()
      _ = try fixture.filledCoffer(count: 20)
      let before = try fixture.run("message", "list", "--json").lines
      #expect(before.count == 20)
      let disk = try disk(fixture)
      for words in Self.words {
        let run = try fixture.start(words, on: disk).wait()
        #expect(run.isDone, "\(run)")
        if words.contains("list") { #expect(run.lines == before) }
      }
      for words in [["message", "add", fixture.phraseFile], ["vault", "rotate"]] {
        let run = try fixture.start(words, on: disk).wait()
        #expect(run.end == .exited(6) && run.errors.contains("is on a read-only medium"), "\(run)")
      }
      #expect(
        Set(try FileManager.default.contentsOfDirectory(atPath: disk.path + "/coffer")) == [
          "coffer.db", "coffer.lock",
        ])
    }

    @Test("One that a crash has left is read with its log, or the reason is told; a copy of all of it opens")
    func crashed() throws {
      let fixture = try CofferFixture()
      let coffer = try fixture.makeCoffer()
      _ = try coffer.vault.add(
        CofferFixture.secret("note"),
        metadata: MessageMetadata(title: "note", contentType: MessageMetadata.noteType, date: 0))
      let copy = fixture.folder + "/copy"
      try FileManager.default.copyItem(atPath: fixture.home, toPath: copy)
      coffer.close()
      try fixture.put(copyOf: copy)
      unlink(fixture.home + "/coffer.db-shm")
      #expect(access(fixture.home + "/coffer.db-wal", F_OK) == 0)
      let disk = try disk(fixture)
      let run = try fixture.start(["message", "list", "--json"], on: disk).wait()
      #expect(run.end == .exited(6) && run.errors.contains("is on a read-only medium"), "\(run)")
      #expect(run.errors.contains("copy the whole folder"))
      let copied = try fixture.run("message", "list", "--json")
      #expect(copied.isDone && copied.lines.count == 1, "\(copied)")
    }
  }
}
