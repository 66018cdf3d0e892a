// SPDX-License-Identifier: Apache-2.0

import Extents
import Foundation
import Glibc
import RemoteConformance
import Remotes
import Testing

@Suite("A folder as a remote")
struct FolderRemoteTests {
  @Test("It does what every remote does", arguments: RemoteConformance.allCases)
  func conformance(check: RemoteConformance) throws {
    let folder = try RemoteFolder()
    try check.run(on: folder.remote)
    #expect(try folder.list() == [:])
    // No temporary file is left.
    let isFile = { (name: String) in try folder.status(name).st_mode & S_IFMT == S_IFREG }
    #expect(try folder.names().filter(isFile) == [])
  }

  @Test("Without its folder it is unreachable, and makes none")
  func unreachable() throws {
    let folder = try RemoteFolder()
    let name = "account/slots/a"
    try folder.remote.put(name, [1])
    try FileManager.default.moveItem(atPath: folder.path, toPath: folder.outside + "/moved")
    func check() {
      #expect(throws: RemoteError.unreachable) { try folder.remote.list("") }
      #expect(throws: RemoteError.unreachable) { try folder.remote.get(name) }
      #expect(throws: RemoteError.unreachable) { try folder.remote.put(name, [2]) }
      #expect(throws: RemoteError.unreachable) { try folder.remote.stat(name) }
      #expect(throws: RemoteError.unreachable) { try folder.remote.delete(name) }
    }
    check()
    #expect(access(folder.path, F_OK) != 0)
    try Data([1]).write(to: URL(filePath: folder.path))
    check()
    #expect(try Data(contentsOf: URL(filePath: folder.path)) == Data([1]))
    // It comes back, as a stick does.
    unlink(folder.path)
    try FileManager.default.moveItem(atPath: folder.outside + "/moved", toPath: folder.path)
    #expect(try folder.remote.get(name) == [1])
  }

  @Test("A stick in place of another one gets folders of its own, as durable as the first")
  func replaced() throws {
    let folder = try RemoteFolder()
    for byte in UInt8(1)...2 {
      try folder.remote.put("account/slots/a", [byte])
      #expect(try folder.remote.get("account/slots/a") == [byte])
      try FileManager.default.moveItem(atPath: folder.path, toPath: folder.outside + "/\(byte)")
      mkdir(folder.path, 0o700)
      #expect(try folder.list() == [:])
    }
  }

  @Test("Its path is absolute and may lead through links")
  func paths() throws {
    for path in ["", "relative", "./relative", "~/x", "/x\u{0}y"] { #expect(FolderRemote(path: path) == nil) }
    let folder = try RemoteFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.outside + "/link", withDestinationPath: folder.path)
    let linked = try #require(FolderRemote(path: folder.outside + "/link"))
    try linked.put("account/format", [1])
    #expect(try folder.list() == ["account/format": 1])
  }

  @Test("Files and folders are for their owner alone")
  func modes() throws {
    let folder = try RemoteFolder()
    try folder.remote.put("account/pack/d/0a/hash", [1])
    #expect(try folder.mode("account/pack/d/0a/hash") == 0o600)
    for name in ["account", "account/pack", "account/pack/d", "account/pack/d/0a"] {
      #expect(try folder.mode(name) == 0o700)
    }
  }

  @Test("It has no time and no dates: synchronisers do not keep them")
  func dates() throws {
    let folder = try RemoteFolder()
    try folder.remote.put("account/format", [1])
    let list = try folder.remote.list("account")
    #expect(list.objects == [RemoteObject(name: "account/format", byteCount: 1, date: nil)])
    #expect(list.time == nil)
  }

  @Test("A list of many names has each of them", .timeLimit(.minutes(60)))
  func manyNames() throws {
    let folder = try RemoteFolder()
    let count = Shares("names in a folder", count: 4).rounds(of: 100_000)
    try folder.makeFolder("account/pack/d/0a")
    for index in 0..<count {
      let file = open("\(folder.path)/account/pack/d/0a/\(index)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try #require(file >= 0)
      close(file)
    }
    var isSeen = [Bool](repeating: false, count: count)
    var repetitions = 0
    try folder.remote.list("account/pack/d") { object in
      let index = object.name.split(separator: "/").last.flatMap { Int($0) }
      guard let index, isSeen.indices.contains(index), !isSeen[index] else { return repetitions += 1 }
      isSeen[index] = true
    }
    #expect(repetitions == 0)
    #expect(isSeen.allSatisfy { $0 })
    // Another object among so many is one file more, whatever is there.
    try folder.remote.put("account/pack/d/0a/new", [1])
    #expect(try folder.remote.stat("account/pack/d/0a/new") == 1)
  }
}
