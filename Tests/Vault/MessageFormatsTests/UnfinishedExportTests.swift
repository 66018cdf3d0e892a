// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import MessageFormats

/// Notes what is told, in order.
private final class Told: UnfinishedExportRecord {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func begin(_ path: String) { lines.withLock { $0.append("begin " + path) } }
  func end(_ path: String) { lines.withLock { $0.append("end " + path) } }
}

@Suite("Exports that are not complete")
struct UnfinishedExportTests {
  let scratch = Scratch()
  private let told = Told()

  @Test("what another export has locked, to remove it, is given up and not filled")
  func lockedByAnother() throws {
    let unfinished = try UnfinishedExport(in: scratch.file("."), nil)
    let own = open(unfinished.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    let other = open(unfinished.path, O_RDONLY)
    defer {
      close(own)
      close(other)
    }
    try #require(own >= 0 && other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0)
    #expect(throws: MessageFormatError.cannotWrite(errno: EWOULDBLOCK)) { try unfinished.claim(own) }
    flock(other, LOCK_UN)
    try unfinished.claim(own)
    #expect(UnfinishedExport.state(of: unfinished.path) == .inUse)
  }

  @Test("a file without a name needs no note; one that has to have a name is noted until it is gone")
  func notes() throws {
    do { _ = try UnnamedFile(path: scratch.file("a"), record: told) }
    #expect(told.all.isEmpty && scratch.names.isEmpty)
    do {
      let file = try UnnamedFile(path: scratch.file("b"), record: told, needsName: true)
      #expect(scratch.names.count == 1)
      #expect(told.all.count == 1)
      let path = try #require(told.all.first?.dropFirst("begin ".count)).description
      #expect(path.hasPrefix("/") && UnfinishedExport.state(of: path) == .inUse)
      #expect(UnfinishedExport.removeAbandoned(path) == .inUse && scratch.names.count == 1)
      withExtendedLifetime(file) {}
    }
    #expect(scratch.names.isEmpty && told.all.count == 2)
    let named = try UnnamedFile(path: scratch.file("c"), record: told, needsName: true)
    try named.claimName()
    #expect(scratch.names == ["c"] && told.all.count == 4)
    var status = stat()
    #expect(stat(scratch.file("c"), &status) == 0 && status.st_nlink == 1 && status.st_mode & 0o777 == 0o600)
  }

  @Test("a name that was taken meanwhile is left alone, with and without a name", arguments: [true, false])
  func taken(needsName: Bool) throws {
    let file = try UnnamedFile(path: scratch.file("a"), needsName: needsName)
    _ = scratch.write("a", "mine")
    #expect(throws: MessageFormatError.alreadyExists) { try file.claimName() }
    #expect(String(decoding: scratch.bytes("a"), as: UTF8.self) == "mine")
  }

  @Test("a folder is noted before it is there, and until it is whole or gone")
  func folders() throws {
    do {
      let sink = try DirectorySink(path: scratch.file("a"), record: told)
      let path = try #require(told.all.first?.dropFirst("begin ".count)).description
      #expect(UnfinishedExport.state(of: path) == .inUse)
      _ = consume sink
    }
    #expect(told.all.count == 2 && scratch.names.isEmpty)
    var sink = try DirectorySink(path: scratch.file("b"), record: told)
    try sink.finish()
    #expect(told.all.count == 4 && scratch.names == ["b"])
  }

  private func abandoned(_ name: String = "coffer-unfinished-" + String(repeating: "0a", count: 16)) -> String
  {
    _ = scratch.write(name + "/1.txt", "plain")
    _ = scratch.write(name + "/metadata.jsonl", "plain")
    return scratch.file(name).replacing("//", with: "/")
  }

  @Test("what a killed export left is removed, and only that")
  func removal() throws {
    let left = abandoned()
    #expect(UnfinishedExport.state(of: left) == .abandoned)
    #expect(UnfinishedExport.removeAbandoned(left) == .gone)
    #expect(scratch.names.isEmpty)
    #expect(UnfinishedExport.state(of: left) == .gone)

    // A folder inside is none of ours.
    _ = abandoned()
    _ = scratch.write("coffer-unfinished-" + String(repeating: "0a", count: 16) + "/deep/mine", "mine")
    #expect(UnfinishedExport.removeAbandoned(left) == .abandoned)
    #expect(FileManager.default.fileExists(atPath: left + "/deep/mine"))

    for name in ["mine", "coffer-unfinished-", "coffer-unfinished-" + String(repeating: "0A", count: 16)] {
      let other = abandoned(name)
      #expect(UnfinishedExport.removeAbandoned(other) == .notOurs)
      #expect(FileManager.default.fileExists(atPath: other + "/1.txt"))
    }
    let link = scratch.file("coffer-unfinished-" + String(repeating: "0b", count: 16))
    symlink(scratch.file("mine"), link)
    #expect(UnfinishedExport.removeAbandoned(link) == .notOurs)
    let second = scratch.file("coffer-unfinished-" + String(repeating: "0c", count: 16))
    Glibc.link(scratch.file("mine/1.txt"), second)
    #expect(UnfinishedExport.removeAbandoned(second) == .notOurs)
    let away = "/nowhere/coffer-unfinished-" + String(repeating: "0d", count: 16)
    #expect(UnfinishedExport.state(of: away) == .unreachable)
    #expect(String(decoding: scratch.bytes("mine/1.txt"), as: UTF8.self) == "plain")
  }
}
