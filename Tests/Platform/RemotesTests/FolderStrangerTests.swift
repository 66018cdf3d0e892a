// SPDX-License-Identifier: Apache-2.0
//
// What is in a folder and not ours: links, other people's files, the traces of synchronisers. It is passed over, and
// stays as it is.

import Foundation
import Glibc
import Remotes
import Testing

@Suite("What is not ours in a folder")
struct FolderStrangerTests {
  private static let parts = ["account", "pack", "device", "0a", "hash"]
  private static let name = parts.joined(separator: "/")

  /// Checks that there is no object of that name, and that a put says why and changes nothing.
  private func checkOccupied(_ folder: RemoteFolder, _ name: String = Self.name) throws {
    let before = try folder.names()
    #expect(try folder.remote.get(name) == nil)
    #expect(try folder.remote.get(name, range: 0..<1) == nil)
    #expect(try folder.remote.stat(name) == nil)
    try folder.remote.delete(name)
    #expect(throws: RemoteError.refused(.occupied)) { try folder.remote.put(name, [9]) }
    #expect(try folder.names() == before)
  }

  @Test("A link to a folder is not followed, at any level", arguments: 0..<4)
  func linkedFolder(level: Int) throws {
    let folder = try RemoteFolder()
    let rest = Self.parts[(level + 1)...].joined(separator: "/")
    let target = folder.outside + "/" + rest
    try FileManager.default.createDirectory(
      atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: target))
    try folder.makeFolder(Self.parts[..<level].joined(separator: "/"))
    try folder.link(Self.parts[...level].joined(separator: "/"), to: folder.outside)
    try checkOccupied(folder)
    #expect(try folder.list() == [:])
    for depth in 1...4 { #expect(try folder.list(Self.parts[..<depth].joined(separator: "/")) == [:]) }
    #expect(try Data(contentsOf: URL(filePath: target)) == Data([1]))
  }

  @Test(
    "A link in place of an object is not followed, wherever it leads", arguments: ["", "/file", "/nothing"])
  func linkedFile(target: String) throws {
    let folder = try RemoteFolder()
    let file = folder.outside + "/file"
    try Data([1]).write(to: URL(filePath: file))
    try folder.makeFolder("account/pack/device/0a")
    try folder.link(Self.name, to: folder.outside + target)
    try checkOccupied(folder)
    #expect(try folder.list() == [:])
    #expect(try Data(contentsOf: URL(filePath: file)) == Data([1]))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.outside) == ["file"])
  }

  @Test("A link within the remote is not followed either")
  func linkWithin() throws {
    let folder = try RemoteFolder()
    try folder.remote.put("account/slots/real", [1])
    try folder.link("account/other", to: "slots")
    try folder.link("account/slots/linked", to: "real")
    try checkOccupied(folder, "account/other/real")
    try checkOccupied(folder, "account/slots/linked")
    #expect(try folder.list() == ["account/slots/real": 1])
  }

  @Test("A file in place of a folder stays, at any level", arguments: 0..<4)
  func fileForFolder(level: Int) throws {
    let folder = try RemoteFolder()
    let file = Self.parts[...level].joined(separator: "/")
    try folder.write(file, [1])
    try checkOccupied(folder)
    #expect(try folder.list(file) == [:])
    #expect(try folder.list() == [file: 1])
  }

  @Test("A folder in place of an object stays, empty or not", arguments: [false, true])
  func folderForFile(isEmpty: Bool) throws {
    let folder = try RemoteFolder()
    try folder.makeFolder(Self.name)
    if !isEmpty { try folder.write(Self.name + "/inner", [1]) }
    try checkOccupied(folder)
    #expect(try folder.list() == (isEmpty ? [:] : [Self.name + "/inner": 1]))
  }

  @Test("A pipe or a socket is not opened, which would wait, and stays")
  func pipe() throws {
    let folder = try RemoteFolder()
    try folder.makeFolder("account/pack/device/0a")
    try #require(mkfifo(folder.path + "/" + Self.name, 0o600) == 0)
    try checkOccupied(folder)
    try #require(mkfifo(folder.path + "/account/slots", 0o600) == 0)
    try checkOccupied(folder, "account/slots/a")
    #expect(try folder.list() == [:])
    #expect(try folder.list("account/slots") == [:])
  }

  @Test("Names that are not ours are not listed, and stay")
  func strangers() throws {
    let folder = try RemoteFolder()
    try folder.remote.put(Self.name, [1])
    let strangers = [
      ".stfolder/x", ".stignore", ".stversions/account/pack/device/0a/hash", ".nextcloudsync.log",
      "desktop.ini",
      "account/pack/device/0a/hash.sync-conflict-20261126-051200-ABCDEFG",
      "account/pack/device/0a/hash (conflicted copy 2026-11-26 051200)",
      "account/pack/device/0a/.syncthing.hash.tmp",
      "account/pack/device/0a/.~hash.1a2b", "account/pack/device/0a/HASH2", "account/pack/device/0a/hash~",
      "account/Pack/device/0a/hash", "account/pack/device/0a/h\u{e4}sh", "System Volume Information/x",
      "account/.DS_Store", "account/lost+found/x", "account/a_b", "account/ ",
      "account/" + String(repeating: "a", count: RemoteName.partByteCountLimit + 1),
    ]
    for stranger in strangers { try folder.write(stranger, [2]) }
    // A name that is not UTF-8.
    let odd = open(folder.path + "/account/pack/device/0a/", O_RDONLY | O_DIRECTORY)
    defer { close(odd) }
    let made = [0x68, 0xE4, 0].map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
      openat(odd, $0.baseAddress!, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    }
    if made >= 0 { close(made) }
    let before = try folder.names()
    #expect(try folder.list() == [Self.name: 1])
    #expect(try folder.list("account") == [Self.name: 1])
    #expect(try folder.names() == before)
    for stranger in strangers {
      #expect(try folder.remote.get(stranger) == nil)
      try folder.remote.delete(stranger)
      #expect(throws: RemoteError.refused(.name)) { try folder.remote.put(stranger, [3]) }
      #expect(try Data(contentsOf: URL(filePath: folder.path + "/" + stranger)) == Data([2]))
    }
  }

  @Test("What lies deeper than a name can is not listed")
  func deep() throws {
    let folder = try RemoteFolder()
    try folder.write("1/2/3/4/5/6", [1])
    try folder.write("1/2/3/4/5/x/7", [1])
    #expect(try folder.list() == ["1/2/3/4/5/6": 1])
    #expect(try folder.list("1/2/3/4/5") == ["1/2/3/4/5/6": 1])
    #expect(try folder.list("1/2/3/4/5/x") == [:])
  }
}
