// SPDX-License-Identifier: Apache-2.0
//
// What a put does to the files in a folder, and what is left when it cannot be done.

import Foundation
import Glibc
import Testing

@testable import Remotes

@Suite("Writing into a folder")
struct FolderWritingTests {
  private static let name = "account/slots/hash"

  @Test("The same bytes again change nothing that a reader can see")
  func again() throws {
    let folder = try RemoteFolder()
    for bytes in [[], [1], [UInt8](repeating: 7, count: 700_000)] {
      try folder.remote.put(Self.name, bytes)
      try folder.date(Self.name, secondsAgo: 3_600)
      chmod(folder.path + "/" + Self.name, 0o640)
      let before = try folder.status(Self.name)
      try folder.remote.put(Self.name, bytes)
      let after = try folder.status(Self.name)
      #expect(before.st_ino == after.st_ino && before.st_mtim.tv_sec == after.st_mtim.tv_sec)
      #expect(
        before.st_ctim.tv_sec == after.st_ctim.tv_sec && before.st_ctim.tv_nsec == after.st_ctim.tv_nsec)
    }
  }

  @Test(
    "Other bytes of the same length are another file; whoever reads the first goes on",
    arguments: [0, 299_999])
  func other(place: Int) throws {
    let folder = try RemoteFolder()
    var bytes = [UInt8](repeating: 7, count: 300_000)
    try folder.remote.put(Self.name, bytes)
    let reader = try #require(FileHandle(forReadingAtPath: folder.path + "/" + Self.name))
    let before = bytes
    bytes[place] = 8
    try folder.remote.put(Self.name, bytes)
    #expect(try folder.remote.get(Self.name) == bytes)
    #expect(try reader.readToEnd() == Data(before))
  }

  @Test("A file that has another name as well keeps its bytes under that one")
  func hardLink() throws {
    let folder = try RemoteFolder()
    try folder.write(Self.name, [1])
    let other = folder.outside + "/other"
    try #require(Glibc.link(folder.path + "/" + Self.name, other) == 0)
    try folder.remote.put(Self.name, [2])
    #expect(try Data(contentsOf: URL(filePath: other)) == Data([1]))
    #expect(try folder.remote.get(Self.name) == [2])
  }

  @Test("A file that is longer than any object is cut off, and can be replaced and deleted")
  func tooLong() throws {
    let folder = try RemoteFolder()
    try folder.write(Self.name, [])
    let path = folder.path + "/" + Self.name
    // It has no blocks on the disk.
    try #require(truncate(path, 1 << 40) == 0)
    #expect(try folder.remote.stat(Self.name) == 1 << 40)
    #expect(try folder.list() == [Self.name: 1 << 40])
    #expect(try folder.remote.get(Self.name)?.count == RemoteObject.byteCountLimit)
    #expect(try folder.remote.get(Self.name, range: (1 << 39)..<(1 << 39) + 4) == [0, 0, 0, 0])
    try folder.remote.put(Self.name, [1])
    #expect(try folder.remote.get(Self.name) == [1])
  }

  @Test("Temporary files are removed by a list after a day, in its own folder and those in it")
  func leftovers() throws {
    let folder = try RemoteFolder()
    let day = 24 * 60 * 60
    func temporary(_ place: String, secondsAgo: Int) throws -> String {
      let name = place + TemporaryName.new()
      try folder.write(name, [1])
      try folder.date(name, secondsAgo: secondsAgo)
      return name
    }
    try folder.remote.put(Self.name, [1])
    let old = try ["account/", "account/slots/", "account/pack/d/0a/"].map {
      try temporary($0, secondsAgo: day + 60)
    }
    let new = try temporary("account/slots/", secondsAgo: day - 60)
    let ahead = try temporary("account/slots/", secondsAgo: -3_600)
    // Old, and not ours.
    var others: [String] = []
    for other in [
      ".coffer-", ".coffer-0123.part", "x.part", ".coffer-\(String(repeating: "G", count: 32)).part",
    ] {
      let name = "account/slots/" + other
      try folder.write(name, [1])
      try folder.date(name, secondsAgo: 2 * day)
      others.append(name)
    }
    let named = "account/slots/" + TemporaryName.new()
    try folder.makeFolder(named)
    try folder.date(named, secondsAgo: 2 * day)
    #expect(try folder.list("account/slots") == [Self.name: 1])
    #expect(try folder.names().isSuperset(of: [old[0], old[2], new, ahead, named] + others))
    #expect(try !folder.names().contains(old[1]))
    #expect(try folder.list("account") == [Self.name: 1])
    #expect(try folder.names().isDisjoint(with: old))
    #expect(try folder.names().isSuperset(of: [new, ahead, named] + others))
  }

  @Test(
    "A temporary file of another user stays", .enabled(if: geteuid() == 0, "only root can give a file away"))
  func othersLeftover() throws {
    let folder = try RemoteFolder()
    let name = "account/slots/" + TemporaryName.new()
    try folder.write(name, [1])
    try folder.date(name, secondsAgo: 3 * 24 * 60 * 60)
    try #require(chown(folder.path + "/" + name, OrdinaryUser.id, .max) == 0)
    #expect(try folder.list() == [:])
    #expect(try folder.names().contains(name))
  }

  @Test("Temporary names are never those of objects, and each is new")
  func temporaryNames() {
    let names = Set((0..<1_000).map { _ in TemporaryName.new() })
    #expect(names.count == 1_000)
    for name in names { #expect(TemporaryName.matches(name) && RemoteName(name) == nil) }
  }

  @Test("A file system that cannot flush a folder is passed over")
  func withoutFlush() throws {
    // That of the processes is one.
    let folder = try OpenFolder(root: "/proc")
    try #require(fsync(folder.descriptor) != 0 && errno == EINVAL)
    try folder.flush()
  }
}
