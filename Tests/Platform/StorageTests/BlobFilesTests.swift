// SPDX-License-Identifier: Apache-2.0

import Foundation
import TemporaryHomes
import Testing

@testable import Storage

@Suite("Large values as files beside the database")
struct BlobFilesTests {
  private func name(_ byte: UInt8) throws -> BlobName {
    try #require(BlobName(bytes: [UInt8](repeating: byte, count: BlobName.byteCount)))
  }

  private func write(_ content: [UInt8], _ name: BlobName, _ blobs: BlobFiles) throws {
    var writer = try blobs.create(name: name)
    try writer.write(content.span.bytes)
    try writer.finish()
  }

  private func read(_ name: BlobName, _ blobs: BlobFiles) throws -> [UInt8] {
    var reader = try blobs.open(name)
    var content = [UInt8](repeating: 0, count: try reader.byteCount() + 1)
    var span = content.mutableSpan
    var output = span.mutableBytes
    let count = try reader.read(into: &output)
    return Array(content.prefix(count))
  }

  private func blobs(_ home: TemporaryHome) throws -> BlobFiles {
    try DatabaseFile.create(home: home.path) { _ in }.blobs
  }

  @Test("What is written is read, under a name that is listed, by its owner alone")
  func roundTrip() throws {
    let home = try TemporaryHome()
    let blobs = try blobs(home)
    #expect(try blobs.names() == [])
    for (byte, count) in [(UInt8(1), 0), (2, 1), (0xAB, 300_000)] {
      let content = [UInt8](repeating: byte, count: count)
      try write(content, name(byte), blobs)
      #expect(try read(name(byte), blobs) == content)
    }
    try blobs.synchronise()
    #expect(try Set(blobs.names()) == [name(1), name(2), name(0xAB)])
    let path = home.path + "/blobs/" + String(repeating: "ab", count: 16)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
  }

  @Test("A blob that is not finished leaves no file")
  func unfinished() throws {
    let home = try TemporaryHome()
    let blobs = try blobs(home)
    do {
      var writer = try blobs.create(name: name(7))
      try writer.write([1, 2, 3].span.bytes)
    }
    #expect(try blobs.names() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/blobs") == [])
  }

  @Test("A blob that somebody claims is not swept by the next writer")
  func claims() throws {
    let home = try TemporaryHome()
    let blobs = try blobs(home)
    try write([1], name(1), blobs)
    var writer = try blobs.create(name: name(2))
    let content: [UInt8] = [2]
    try writer.write(content.span.bytes)
    var claim: BlobClaim? = try writer.finish()
    func sweep() throws -> [BlobName] {
      let file = try DatabaseFile.open(home: home.path)
      try file.sweepBlobs(except: [])
      return try file.blobs.names()
    }
    #expect(try sweep() == [name(2)])
    #expect(try read(name(2), blobs) == content)
    #expect(claim != nil)
    claim = nil
    #expect(try sweep() == [])
  }

  @Test("A name is given once, and a link is not followed")
  func takenName() throws {
    let home = try TemporaryHome()
    let blobs = try blobs(home)
    try write([1], name(1), blobs)
    #expect(throws: StorageError.self) { try write([2], name(1), blobs) }
    #expect(try read(name(1), blobs) == [1])
    let target = home.path + "/target"
    try Data([9]).write(to: URL(filePath: target))
    let link = home.path + "/blobs/" + String(repeating: "02", count: 16)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    #expect(throws: StorageError.self) { try write([2], name(2), blobs) }
    #expect(throws: StorageError.self) { try read(name(2), blobs) }
    blobs.remove(try name(2))
    #expect(try Data(contentsOf: URL(filePath: target)) == Data([9]))
  }

  @Test("A missing blob is damage, and to remove it again is not an error")
  func missing() throws {
    let home = try TemporaryHome()
    let blobs = try blobs(home)
    #expect(throws: StorageError.corrupt(part: .record)) { try read(name(3), blobs) }
    blobs.remove(try name(3))
    try write([1], name(3), blobs)
    blobs.remove(try name(3))
    blobs.remove(try name(3))
    #expect(try blobs.names() == [])
  }

  @Test(
    "Files with other names are not blobs",
    arguments: [
      "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
      "0123456789ABCDEF0123456789ABCDEF",
      "0123456789abcdef0123456789abcdeg", ".0123456789abcdef0123456789abcde", "",
    ])
  func otherNames(text: String) { #expect(BlobName(text) == nil) }

  @Test("A coffer that is erased takes its blobs along, and no other file")
  func destroyed() throws {
    let home = try TemporaryHome()
    let file = try DatabaseFile.create(home: home.path) { _ in }
    try write([1], name(1), file.blobs)
    let other = home.path + "/blobs/notes"
    try Data([1]).write(to: URL(filePath: other))
    file.close()
    try DatabaseFile.destroy(home: home.path)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == ["blobs"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path + "/blobs") == ["notes"])
  }

  @Test(
    "Errors of the system are sorted by what a person can do",
    arguments: [
      (ENOSPC, StorageError.full), (EDQUOT, .full), (EFBIG, .full), (EACCES, .notPermitted),
      (EROFS, .readOnly),
      (EIO, .inputOutput(code: EIO)),
    ])
  func errors(code: Int32, error: StorageError) { #expect(StorageError(systemError: code) == error) }
}
