// SPDX-License-Identifier: Apache-2.0

import Correspondence
import Foundation
import OpenPGP
import TemporaryHomes
import Testing

@Suite("Archives")
struct TarTests {
  let home: TemporaryHome
  private var root: String { home.path + "/photos" }

  init() throws {
    home = try TemporaryHome()
    let files = FileManager.default
    try files.createDirectory(atPath: home.path + "/photos/inner", withIntermediateDirectories: true)
    try Data("one".utf8).write(to: URL(filePath: home.path + "/photos/b.txt"))
    try Data(repeating: 7, count: 1300).write(to: URL(filePath: home.path + "/photos/inner/a"))
    try Data("#!".utf8).write(to: URL(filePath: home.path + "/photos/run"))
    try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: home.path + "/photos/run")
    let long = home.path + "/photos/" + String(repeating: "long", count: 40)
    try Data("long".utf8).write(to: URL(filePath: long))
    try files.createSymbolicLink(
      atPath: home.path + "/photos/link", withDestinationPath: "/etc/passwd")
    mkfifo(home.path + "/photos/pipe", 0o600)
  }

  private func archive(_ paths: [String]) throws -> [UInt8] {
    let source = try TarSource(paths: paths)
    var bytes: [UInt8] = []
    while true {
      let count = try source.withNext { (next) throws(OpenPGPError) -> Int in
        bytes += next.withUnsafeBytes { Array($0) }
        return next.byteCount
      }
      if count == 0 { break }
      source.consume(count)
    }
    #expect(bytes.count == source.byteCount)
    return bytes
  }

  @Test("tar unpacks what went in, links as links, without what is no file")
  func unpacks() throws {
    let bytes = try archive([root])
    #expect(try TarSource(paths: [root]).leftOut == ["photos/pipe"])
    let file = home.path + "/out.tar"
    try Data(bytes).write(to: URL(filePath: file))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["tar", "-xf", file, "-C", home.path, "--one-top-level=out"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let out = home.path + "/out/photos"
    let names = try FileManager.default.subpathsOfDirectory(atPath: out).sorted()
    let long = String(repeating: "long", count: 40)
    #expect(names == ["b.txt", "inner", "inner/a", "link", long, "run"].sorted())
    #expect(try Data(contentsOf: URL(filePath: out + "/inner/a")) == Data(repeating: 7, count: 1300))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: out + "/link") == "/etc/passwd")
    #expect(FileManager.default.isExecutableFile(atPath: out + "/run"))
    #expect(!FileManager.default.isExecutableFile(atPath: out + "/b.txt"))
  }

  @Test("the same files give the same octets")
  func deterministic() throws {
    #expect(try archive([root]) == archive([root + "/"]))
  }

  @Test("two of one name, and a missing one, are refused")
  func refused() throws {
    #expect(throws: OpenPGPError.inputOutput(errno: ENOTUNIQ)) { try TarSource(paths: [root, root]) }
    #expect(throws: OpenPGPError.inputOutput(errno: ENOENT)) { try TarSource(paths: [root + "/x"]) }
  }

  @Test("a file that becomes shorter is an error, and not a broken archive")
  func shorter() throws {
    let source = try TarSource(paths: [root + "/b.txt"])
    try Data("o".utf8).write(to: URL(filePath: root + "/b.txt"))
    #expect(throws: OpenPGPError.inputChanged) {
      while true {
        let count = try source.withNext { (next) throws(OpenPGPError) -> Int in next.byteCount }
        if count == 0 { break }
        source.consume(count)
      }
    }
  }
}
