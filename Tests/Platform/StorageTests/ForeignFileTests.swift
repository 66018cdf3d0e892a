// SPDX-License-Identifier: Apache-2.0
//
// Links, pipes and folders in the place of a coffer's files. None is followed, waited for or written to.

import Foundation
import GRDB
import TemporaryHomes
import Testing

@testable import Storage

/// What may be put in the place of a file.
enum ForeignKind: CaseIterable {
  case pipe, link, folder, socket

  func make(at path: String) throws {
    switch self {
    case .pipe: try #require(mkfifo(path, 0o600) == 0)
    case .link: try #require(symlink("/dev/null", path) == 0)
    case .folder: try #require(mkdir(path, 0o700) == 0)
    case .socket: try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
    }
  }

  func isThere(at path: String) -> Bool {
    var status = stat()
    let wanted = [.pipe: S_IFIFO, .link: S_IFLNK, .folder: S_IFDIR, .socket: S_IFSOCK][self]
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == wanted
  }
}

@Suite("Something else in the place of a coffer's files", .timeLimit(.minutes(60)))
struct ForeignFileTests {
  let home: TemporaryHome

  init() throws { home = try TemporaryHome() }

  private func path(_ name: String) -> String { home.path + "/" + name }

  private func closedCoffer() throws { try DatabaseFile.create(home: home.path) { _ in }.close() }

  private func name(_ byte: UInt8) throws -> BlobName {
    try #require(BlobName(bytes: [UInt8](repeating: byte, count: BlobName.byteCount)))
  }

  private func blob(_ byte: UInt8) -> String {
    path("blobs/") + String(repeating: String(byte, radix: 16), count: 16)
  }

  private func write(_ name: BlobName, _ blobs: BlobFiles) throws {
    var writer = try blobs.create(name: name)
    let content: [UInt8] = [1, 2, 3]
    try writer.write(content.span.bytes)
    try writer.finish()
  }

  @Test(
    "It is told from a missing and from a damaged coffer, and none is made over it",
    arguments: ForeignKind.allCases)
  func database(kind: ForeignKind) throws {
    try closedCoffer()
    #expect(rename(path("coffer.db"), path("kept")) == 0)
    try kind.make(at: path("coffer.db"))
    #expect(DatabaseFile.exists(home: home.path))
    #expect(throws: StorageError.placeTaken(.database)) { try DatabaseFile.open(home: home.path) }
    #expect(throws: StorageError.alreadyExists) { try DatabaseFile.create(home: home.path) { _ in } }
    #expect(kind.isThere(at: path("coffer.db")))
  }

  @Test("SQLite is not let near it", arguments: ForeignKind.allCases)
  func log(kind: ForeignKind) throws {
    for (name, place) in [("coffer.db-wal", StorageError.Place.log), ("coffer.db-shm", .logIndex)] {
      let other = try TemporaryHome()
      try DatabaseFile.create(home: other.path) { _ in }.close()
      try kind.make(at: other.path + "/" + name)
      #expect(throws: StorageError.placeTaken(place)) { try DatabaseFile.open(home: other.path) }
      #expect(kind.isThere(at: other.path + "/" + name))
    }
  }

  @Test(
    "A blob that is not a file, or gone, is damage; it is removed and what it leads to is not",
    arguments: ForeignKind.allCases)
  func blob(kind: ForeignKind) throws {
    let blobs = try DatabaseFile.create(home: home.path) { _ in }.blobs
    try write(name(0xAA), blobs)
    try kind.make(at: blob(0xBB))
    #expect(throws: StorageError.corrupt(part: .record)) { _ = try blobs.open(name(0xBB)) }
    #expect(try blobs.contain([name(0xAA)]))
    #expect(try !blobs.contain([name(0xAA), name(0xBB)]))
    #expect(try !blobs.contain([name(0xCC)]))
    blobs.remove(try name(0xBB))
    #expect(kind.isThere(at: blob(0xBB)) == (kind == .folder))
  }

  @Test("A blob that has another name somewhere loses its own, and no byte")
  func hardLink() throws {
    let file = try DatabaseFile.create(home: home.path) { _ in }
    try write(name(0xAA), file.blobs)
    try write(name(0xBB), file.blobs)
    let backup = path("backup")
    #expect(link(blob(0xAA), backup) == 0)
    file.blobs.remove(try name(0xAA))
    #expect(try file.blobs.names() == [name(0xBB)])
    #expect(try Data(contentsOf: URL(filePath: backup)) == Data([1, 2, 3]))
  }

  @Test("An erased coffer leaves what its files lead to, and what has other names")
  func erased() throws {
    let file = try DatabaseFile.create(home: home.path) { _ in }
    try write(name(0xAA), file.blobs)
    let victim = Data("my only copy".utf8)
    try victim.write(to: URL(filePath: home.path + "-victim"))
    #expect(link(home.path + "-victim", blob(0xBB)) == 0)
    #expect(symlink(home.path + "-victim", blob(0xCC)) == 0)
    #expect(mkfifo(blob(0xDD), 0o600) == 0)
    #expect(symlink(home.path + "-victim", path("coffer.db.new-1")) == 0)
    try file.destroy()
    #expect(!FileManager.default.fileExists(atPath: home.path))
    #expect(try Data(contentsOf: URL(filePath: home.path + "-victim")) == victim)
  }

  @Test("A link in the place of the blobs' folder is not followed: nothing is read, made or removed there")
  func linkedFolder() throws {
    let file = try DatabaseFile.create(home: home.path) { _ in }
    let other = try TemporaryHome()
    let others = try DatabaseFile.create(home: other.path) { _ in }.blobs
    try write(name(0xAA), others)
    #expect(symlink(other.path + "/blobs", path("blobs")) == 0)
    #expect(throws: StorageError.placeTaken(.blobs)) { try file.blobs.names() }
    #expect(throws: StorageError.placeTaken(.blobs)) { _ = try file.blobs.open(name(0xAA)) }
    #expect(throws: StorageError.placeTaken(.blobs)) { try write(name(0xBB), file.blobs) }
    #expect(throws: StorageError.placeTaken(.blobs)) { try file.blobs.contain([name(0xAA)]) }
    #expect(throws: StorageError.placeTaken(.blobs)) { try file.sweepBlobs(except: []) }
    file.blobs.remove(try name(0xAA))
    #expect(try others.names() == [name(0xAA)])
    try file.destroy()
    #expect(!FileManager.default.fileExists(atPath: home.path))
    #expect(try others.names() == [name(0xAA)])
  }

  @Test("A sweep removes what no row names, but nothing younger than the sweeper's lock")
  func sweep() throws {
    try closedCoffer()
    let file = try DatabaseFile.open(home: home.path)
    for byte in [0xAA, 0xBB, 0xCC] as [UInt8] { try write(name(byte), file.blobs) }
    #expect(mkfifo(blob(0xDD), 0o600) == 0)
    try file.claimWriting()
    // As another writer's, who has another lock, may be dated.
    var later = [timespec](repeating: timespec(tv_sec: time(nil) + 3_600, tv_nsec: 0), count: 2)
    #expect(utimensat(AT_FDCWD, blob(0xCC), &later, 0) == 0)
    try file.sweepBlobs(except: [name(0xAA)])
    #expect(try Set(file.blobs.names()) == [name(0xAA), name(0xCC)])
    // Once that one has ended, it is what a crash has left.
    later[1].tv_sec -= 7_200
    #expect(utimensat(AT_FDCWD, blob(0xCC), &later, 0) == 0)
    try file.sweepBlobs(except: [name(0xAA)])
    #expect(try file.blobs.names() == [name(0xAA)])
  }

  @Test("On a medium that cannot be written a closed coffer is read, and no file is made")
  func immutable() throws {
    let place = home.path + "/a b%?#"
    let file = try DatabaseFile.create(home: place) { _ in }
    try file.write { _ = try $0.execute("INSERT INTO vault (part, sealed) VALUES (7, x'00')") }
    file.close()
    let queue = try DatabaseFile.connect(path: place + "/coffer.db", isImmutable: true)
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT part FROM vault") } == 7)
    #expect(throws: (any Error).self) { try queue.write { try $0.execute(sql: "DELETE FROM vault") } }
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: place)) == ["coffer.db", "coffer.lock"])
  }
}
