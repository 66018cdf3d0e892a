// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MessageFormats

@Suite("Folders with folders in them")
struct UnpackedFolderTests {
  let scratch = Scratch()
  private let left = "coffer-unpacking-" + String(repeating: "0a", count: 16)

  private func content(_ text: String) -> Int32 {
    open(scratch.write("archive", text), O_RDONLY | O_CLOEXEC)
  }

  private func mode(_ name: String) -> mode_t {
    var status = stat()
    return lstat(scratch.file(name), &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test("a folder has its name only when all of it is there")
  func works() throws {
    let source = content("one two")
    defer { close(source) }
    let folder = try UnpackedFolder(path: scratch.file("out"), record: nil)
    try folder.makeFolder(["a"])
    try folder.makeFolder(["a", "b"])
    try folder.writeFile(["a", "b", "two"], from: source, at: 4, byteCount: 3) { false }
    try folder.writeFile(["empty"], from: source, at: 7, byteCount: 0) { false }
    #expect(!scratch.names.contains("out"))
    try folder.finish()
    #expect(scratch.names == ["archive", "out"])
    #expect(String(decoding: scratch.bytes("out/a/b/two"), as: UTF8.self) == "two")
    #expect(mode("out") == 0o700 && mode("out/a/b") == 0o700 && mode("out/a/b/two") == 0o600)
  }

  @Test("what fails or is given up leaves nothing")
  func nothingLeft() throws {
    let source = content("short")
    defer { close(source) }
    do {
      let folder = try UnpackedFolder(path: scratch.file("out"), record: nil)
      try folder.makeFolder(["a"])
      try folder.makeFolder(["a", "b"])
      #expect(throws: MessageFormatError.cannotRead(errno: EIO)) {
        try folder.writeFile(["a", "b", "x"], from: source, at: 0, byteCount: 6) { false }
      }
      #expect(throws: MessageFormatError.cannotWrite(errno: EINTR)) {
        try folder.writeFile(["y"], from: source, at: 0, byteCount: 5) { true }
      }
      #expect(throws: MessageFormatError.alreadyExists) { try folder.makeFolder(["a"]) }
      for parts in [[], [".."], ["a", ".."], ["a/b"], ["", "x"], ["a", "\0"]] {
        #expect(throws: MessageFormatError.cannotWrite(errno: EINVAL)) { try folder.makeFolder(parts) }
      }
    }
    #expect(scratch.names == ["archive"])
  }

  @Test("a name that was taken meanwhile is left alone")
  func taken() throws {
    do {
      let folder = try UnpackedFolder(path: scratch.file("out"), record: nil)
      try folder.makeFolder(["a"])
      _ = scratch.write("out/mine", "mine")
      #expect(throws: MessageFormatError.alreadyExists) { try folder.finish() }
      #expect(throws: MessageFormatError.alreadyExists) {
        _ = try UnpackedFolder(path: scratch.file("out"), record: nil)
      }
    }
    #expect(scratch.names == ["out"])
    #expect(String(decoding: scratch.bytes("out/mine"), as: UTF8.self) == "mine")
  }

  @Test("a link that somebody puts into the folder meanwhile is not gone through")
  func links() throws {
    let source = content("x")
    defer { close(source) }
    _ = scratch.write("elsewhere/mine", "mine")
    let folder = try UnpackedFolder(path: scratch.file("out"), record: nil)
    let unfinished = try #require(scratch.names.first { $0.hasPrefix("coffer-unpacking-") })
    symlink(scratch.file("elsewhere"), scratch.file(unfinished + "/a"))
    #expect(throws: MessageFormatError.self) {
      try folder.writeFile(["a", "x"], from: source, at: 0, byteCount: 1) { false }
    }
    #expect(!FileManager.default.fileExists(atPath: scratch.file("elsewhere/x")))
  }

  @Test("what a killed process left is removed with its folders, links are not followed")
  func removal() throws {
    _ = scratch.write("elsewhere/mine", "mine")
    _ = scratch.write(left + "/a/b/c/one", "one")
    _ = scratch.write(left + "/two", "two")
    symlink(scratch.file("elsewhere"), scratch.file(left + "/a/link"))
    symlink(scratch.file("elsewhere/mine"), scratch.file(left + "/a/b/mine"))
    let path = scratch.file(left).replacing("//", with: "/")
    #expect(UnfinishedExport.removeAbandoned(path) == .gone)
    #expect(scratch.names == ["elsewhere"])
    #expect(String(decoding: scratch.bytes("elsewhere/mine"), as: UTF8.self) == "mine")
  }

  @Test("folders that are deeper than any archive are not gone through")
  func depth() throws {
    let limit = FolderHandle.removalDepthLimit
    let path = scratch.file(left).replacing("//", with: "/")
    _ = scratch.write(left + "/" + (1..<limit).map { "d\($0)" }.joined(separator: "/") + "/x", "x")
    #expect(UnfinishedExport.removeAbandoned(path) == .gone)
    _ = scratch.write(left + "/" + (1...limit).map { "d\($0)" }.joined(separator: "/") + "/x", "x")
    #expect(UnfinishedExport.removeAbandoned(path) == .abandoned)
  }
}
