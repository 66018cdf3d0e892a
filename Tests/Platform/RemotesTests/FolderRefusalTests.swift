// SPDX-License-Identifier: Apache-2.0
//
// A folder that does not let us: rights, a medium that cannot be written, a full disk. Each is an error of its own, and
// what was there stays.

import Foundation
import Glibc
import SmallDisks
import Testing

@testable import Remotes

@Suite("A folder that refuses")
struct FolderRefusalTests {
  private static let name = "account/slots/hash"

  /// A remote that belongs to the ordinary user, with an object.
  private func folder() throws -> RemoteFolder {
    let folder = try RemoteFolder()
    try folder.remote.put(Self.name, [1])
    try folder.remote.put("account/control/other", [2])
    for name in ["", "account", "account/slots", "account/control", Self.name, "account/control/other"] {
      try #require(chown(folder.path + "/" + name, OrdinaryUser.id, .max) == 0)
    }
    return folder
  }

  @Test("A folder that may only be read refuses every change, and is read")
  func readOnly() throws {
    let folder = try folder()
    chmod(folder.path + "/account/slots", 0o500)
    defer { chmod(folder.path + "/account/slots", 0o700) }
    try OrdinaryUser.run {
      for name in [Self.name, "account/slots/new", "account/slots/new/inner"] {
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.put(name, [3]) }
      }
      #expect(throws: RemoteError.refused(.permission)) { try folder.remote.delete(Self.name) }
      // There is nothing to change here.
      try folder.remote.put(Self.name, [1])
      try folder.remote.delete("account/slots/never")
      #expect(try folder.remote.get(Self.name) == [1])
      #expect(try folder.list("account") == [Self.name: 1, "account/control/other": 1])
      try folder.remote.put("account/control/new", [4])
    }
    #expect(try folder.names().filter { $0.hasPrefix("account/slots/") } == [Self.name])
  }

  @Test(
    "A folder that may not be read is refused, and never listed as if it were empty", arguments: [0, 0o300])
  func unreadable(mode: mode_t) throws {
    let folder = try folder()
    for (place, request) in [("/account/slots", "account"), ("", "")] {
      chmod(folder.path + place, mode)
      defer { chmod(folder.path + place, 0o700) }
      try OrdinaryUser.run {
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.list(request) }
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.list("account/slots") }
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.get(Self.name) }
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.stat(Self.name) }
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.put(Self.name, [3]) }
        #expect(throws: RemoteError.refused(.permission)) { try folder.remote.delete(Self.name) }
      }
    }
    #expect(try folder.remote.get(Self.name) == [1])
  }

  @Test("An object that may not be read is refused, and can be replaced")
  func unreadableObject() throws {
    let folder = try folder()
    chmod(folder.path + "/" + Self.name, 0)
    try OrdinaryUser.run {
      #expect(throws: RemoteError.refused(.permission)) { try folder.remote.get(Self.name) }
      #expect(try folder.remote.stat(Self.name) == 1)
      try folder.remote.put(Self.name, [1])
      #expect(try folder.remote.get(Self.name) == [1])
    }
  }

  @Test(
    "A medium that is mounted read-only says so, and is read",
    .enabled(if: SmallDisk.isPossible, SmallDisk.absence))
  func readOnlyMedium() throws {
    let beside = try RemoteFolder()
    let disk = try #require(try SmallDisk(in: beside.outside))
    let remote = try #require(FolderRemote(path: disk.path))
    try remote.put(Self.name, [1])
    let leftover = disk.path + "/account/slots/" + TemporaryName.new()
    try Data([2]).write(to: URL(filePath: leftover))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: leftover)
    try #require(try disk.makeReadOnly())
    for name in [Self.name, "account/slots/new", "account/new/new"] {
      #expect(throws: RemoteError.refused(.readOnly)) { try remote.put(name, [3]) }
    }
    #expect(throws: RemoteError.refused(.readOnly)) { try remote.delete(Self.name) }
    try remote.put(Self.name, [1])
    #expect(try remote.list("").objects.map(\.name) == [Self.name])
    #expect(try remote.get(Self.name) == [1])
  }

  @Test(
    "A full disk says so, and has the old object and nothing else",
    .enabled(if: SmallDisk.isPossible, SmallDisk.absence))
  func fullDisk() throws {
    let beside = try RemoteFolder()
    let disk = try #require(try SmallDisk(in: beside.outside))
    let remote = try #require(FolderRemote(path: disk.path))
    let (old, new) = ([UInt8](repeating: 1, count: 50_000), [UInt8](repeating: 2, count: 50_000))
    try remote.put(Self.name, old)
    var failures = 0
    for left in stride(from: 0, through: 80 << 10, by: 8 << 10) {
      try disk.fill(leaving: left)
      for name in [Self.name, "account/control/new", "account/more/new"] {
        do {
          try remote.put(name, new)
          #expect(try remote.get(name) == new)
        } catch {
          failures += 1
          #expect(error == .full)
          #expect(try remote.get(name) == (name == Self.name ? old : nil))
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: disk.path).filter {
          $0.contains(".coffer-")
        }
        #expect(files == [], "\(left) bytes free")
        if try remote.get(name) != nil { try remote.delete(name) }
      }
      disk.empty()
      try remote.put(Self.name, old)
    }
    #expect(failures > 0)
  }

  @Test(
    "Errors of the system are sorted by what the user can do",
    arguments: [
      (ENOENT, RemoteError.unreachable), (ENODEV, .unreachable), (ESTALE, .unreachable),
      (ENOTCONN, .unreachable),
      (ETIMEDOUT, .unreachable), (EACCES, .refused(.permission)), (EPERM, .refused(.permission)),
      (EROFS, .refused(.readOnly)), (ENOSPC, .full), (EDQUOT, .full), (EFBIG, .full), (EMLINK, .full),
      (EIO, .inputOutput(code: EIO)), (EMFILE, .inputOutput(code: EMFILE)),
    ])
  func errors(code: Int32, error: RemoteError) { #expect(RemoteError(systemError: code) == error) }
}
