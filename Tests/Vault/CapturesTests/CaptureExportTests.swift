// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keychains
import Primitives
import Storage
import Testing

@testable import Captures

@Suite("Captures as files that other programs check")
struct CaptureExportTests {
  private func run(_ program: String, _ arguments: [String], in folder: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = URL(filePath: folder)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  private func checks(_ folder: String) throws -> (sums: Bool, signature: Bool) {
    (
      try run("sha256sum", ["--check", "--strict", "SHA256SUMS"], in: folder) == 0,
      try run(
        "openssl",
        ["dgst", "-sha256", "-verify", "public-key.pem", "-signature", "assertion.der", "manifest.json"],
        in: folder) == 0
    )
  }

  @Test("The commands in CHECK.txt notice a part that was replaced together with its sum, or that was added")
  func counterfeit() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.add(photo: [0xFF, 0xD8, 0xFF] + bytes(6_000, seed: 1), metadata: "{}")
    let folder = fixture.home.path + "-out"
    _ = try fixture.store.export(id, to: folder)
    let page = try String(contentsOf: URL(filePath: folder + "/CHECK.txt"), encoding: .utf8)
    let commands = page.split(separator: "\n").filter { $0.hasPrefix("  ") }.joined(separator: "\n")
    #expect(commands.hasPrefix("  sha256sum"))
    func says() throws -> String {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", commands]
      process.currentDirectoryURL = URL(filePath: folder)
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return said
    }
    let genuine = try says()
    #expect(genuine.contains("Verified OK") && !genuine.contains("NOT CAPTURED"), "\(genuine)")
    let other = Data([0xFF, 0xD8, 0xFF] + bytes(6_000, seed: 2))
    try other.write(to: URL(filePath: folder + "/photo.jpg"))
    let sums = "\(Hexadecimal.text(SHA256.hash(Array(other).span.bytes)))  photo.jpg\n"
    try Data(sums.utf8).write(to: URL(filePath: folder + "/SHA256SUMS"))
    try Data("more".utf8).write(to: URL(filePath: folder + "/extra.txt"))
    let counterfeit = try says()
    #expect(counterfeit.contains("photo.jpg: OK") && counterfeit.contains("Verified OK"), "\(counterfeit)")
    #expect(counterfeit.contains("NOT CAPTURED: photo.jpg"), "\(counterfeit)")
    #expect(counterfeit.contains("NOT CAPTURED: extra.txt"), "\(counterfeit)")
    #expect(!counterfeit.contains("NOT CAPTURED: metadata.json"))
  }

  @Test("What is exported is bit for bit what was captured, and sha256sum and openssl find it right")
  func everything() throws {
    let fixture = try CaptureFixture()
    let photo = [0xFF, 0xD8, 0xFF] + bytes(600_000, seed: 1)
    let metadata = "{ \"a\" : 1 }"
    let id = try fixture.add(
      photo: photo, depth: Array("Pf\n".utf8) + bytes(70_000, seed: 2), metadata: metadata,
      thumbnail: bytes(99, seed: 3))
    let folder = fixture.home.path + "-out"
    let names = try fixture.store.export(id, to: folder)
    #expect(
      names == [
        "photo.jpg", "depth.pfm", "metadata.json", "thumbnail.jpg", "manifest.json", "assertion.der",
        "public-key.pem", "SHA256SUMS", "CHECK.txt",
      ])
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == Set(names))
    #expect(try Data(contentsOf: URL(filePath: folder + "/photo.jpg")) == Data(photo))
    #expect(try Data(contentsOf: URL(filePath: folder + "/metadata.json")) == Data(metadata.utf8))
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    #expect(try checks(folder) == (true, true))

    // The manifest says what the sums are; whoever changes a file, a sum or the manifest is found out.
    let manifest = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(filePath: folder + "/manifest.json")))
    let parts = try #require((manifest as? [String: Any])?["parts"] as? [[String: Any]])
    let sums = try String(contentsOf: URL(filePath: folder + "/SHA256SUMS"), encoding: .utf8)
    for part in parts { #expect(sums.contains(try #require(part["sha256"] as? String))) }
    for name in ["photo.jpg", "manifest.json"] {
      let url = URL(filePath: "\(folder)/\(name)")
      let whole = try Data(contentsOf: url)
      var changed = whole
      changed[40] ^= 1
      try changed.write(to: url)
      #expect(try checks(folder) == (name != "photo.jpg", name != "manifest.json"))
      try whole.write(to: url)
    }
    #expect(try checks(folder) == (true, true))
  }

  @Test(
    "A photo gets the ending of its kind",
    arguments: [
      ([0xFF, 0xD8, 0xFF, 0xE0], ".jpg"), ([0x89, 0x50, 0x4E, 0x47], ".png"), ([], ".bin"), ([0xFF], ".bin"),
      (Array("\0\0\0\u{18}ftypheic".utf8), ".heic"), (Array("\0\0\0\u{18}ftypmif1".utf8), ".heif"),
      (Array("\0\0\0\u{1C}ftypmif1\0\0\0\0mif1heic".utf8), ".heic"),
      (Array("\0\0\0\u{1C}ftypmif1\0\0\0\0miafavif".utf8), ".avif"),
      (Array("\0\0\0\u{14}ftypmif1\0\0\0\0miafavif".utf8), ".heif"),
      (Array("\0\0\0\u{18}ftypcrx \0\0\0\u{1}crx isom".utf8), ".cr3"),
      (Array("\0\0\0\u{18}ftypavif".utf8), ".avif"), (Array("\0\0\0\u{18}ftyp3gp4".utf8), ".3gp"),
      (Array("\0\0\0\u{18}ftypzzzz".utf8), ".bin"), (Array("\u{FF}\u{FF}ftyp".utf8), ".bin"),
      (Array("GIF89a".utf8), ".gif"), (Array("RIFF\0\0\0\0WEBPVP8 ".utf8), ".webp"),
      (Array("RIFF\0\0\0\0WAVEfmt ".utf8), ".bin"), ([0xFF, 0x0A, 0xFA], ".jxl"),
      ([0, 0, 0, 12] + Array("JXL \r\n".utf8), ".jxl"), (Array("FUJIFILMCCD-RAW 0201".utf8), ".raf"),
      (Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8), ".cr2"),
      (Array("II*\0\u{8}\0\0\0\u{1}\0".utf8) + [0x12, 0xC6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0], ".dng"),
      (Array("MM\0*\0\0\0\u{8}\0\u{1}".utf8) + [0xC6, 0x12, 0, 1, 0, 0, 0, 4, 1, 4, 0, 0], ".dng"),
      (Array("MM\0*\0\0\0\u{8}\u{7F}\u{7F}".utf8), ".tiff"), ([0x1A, 0x45, 0xDF, 0xA3], ".mkv"),
      (Array("\0\0\0\u{18}ftypisom".utf8), ".mp4"), (Array("\0\0\0\u{18}ftypqt  ".utf8), ".mov"),
      (Array("II*\0".utf8), ".tiff"), (Array("../../x".utf8), ".bin"),
    ] as [([UInt8], String)])
  func endings(head: [UInt8], ending: String) {
    let found = FileKind.ending(head.span.bytes)
    #expect(found == ending)
  }

  @Test("An export overwrites nothing")
  func nothingOverwritten() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    let folder = fixture.home.path + "-out"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let note = folder + "/note"
    try Data([7]).write(to: URL(filePath: note))
    #expect(throws: CaptureError.alreadyExists) { try fixture.store.export(id, to: folder) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["note"])
    #expect(throws: CaptureError.alreadyExists) { try fixture.store.export(id, to: note) }
    #expect(try Data(contentsOf: URL(filePath: note)) == Data([7]))
    #expect(throws: CaptureError.cannotWrite(errno: ENOENT)) {
      try fixture.store.export(id, to: fixture.home.path + "-none/out")
    }
    try FileManager.default.removeItem(atPath: note)
    #expect(try fixture.store.export(id, to: folder).count == 9)
  }

  @Test("A damaged capture is not exported, and no folder is left")
  func damaged() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    let path = try #require(try fixture.blobs().last)
    var content = try Data(contentsOf: URL(filePath: path))
    content[content.count - 1] ^= 1
    try content.write(to: URL(filePath: path))
    let folder = fixture.home.path + "-out"
    #expect(throws: CaptureError.corrupt(.photo)) { try fixture.store.export(id, to: folder) }
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(throws: CaptureError.notFound) { try fixture.store.export(CaptureID(), to: folder) }
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("An export that fails half way leaves no folder, and keeps one that was there")
  func halfWay() throws {
    let fixture = try CaptureFixture()
    for wasThere in [false, true] {
      let path = fixture.home.path + "-half-\(wasThere)"
      if wasThere { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
      #expect(throws: CaptureError.notFound) {
        let output = try ExportFolder(path)
        try output.write("one", [1])
        try output.write("two") { write in
          try write(bytes(10, seed: 1).span.bytes)
          throw CaptureError.notFound
        }
      }
      #expect(FileManager.default.fileExists(atPath: path) == wasThere)
      if wasThere { #expect(try FileManager.default.contentsOfDirectory(atPath: path) == []) }
    }
  }

  @Test("No file of an export has a name before all are complete, and stopped it leaves none")
  func stopped() throws {
    let fixture = try CaptureFixture()
    let id = try fixture.addFull()
    let folder = fixture.home.path + "-out"
    var names: [[String]] = []
    var asked = 0
    _ = try fixture.store.export(id, to: folder) {
      asked += 1
      names.append((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      return false
    }
    #expect(asked > 4 && names.allSatisfy(\.isEmpty))
    for limit in 1...asked {
      let other = folder + "-\(limit)"
      var count = 0
      #expect(throws: CaptureError.interrupted) {
        try fixture.store.export(id, to: other) {
          count += 1
          return count == limit
        }
      }
      #expect(!FileManager.default.fileExists(atPath: other))
    }
  }

  @Test("Taking a capture in that is stopped stores nothing, and leaves no blob")
  func stoppedAdding() throws {
    let fixture = try CaptureFixture()
    let path = fixture.home.path + "-photo"
    try Data(bytes(600_000, seed: 1)).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    var count = 0
    let photo = try PartSource(path: path, for: .photo) {
      count += 1
      return count == 3
    }
    #expect(throws: CaptureError.interrupted) {
      try fixture.store.add(NewCapture(photo: photo), signer: fixture.signer)
    }
    #expect(try fixture.store.list().isEmpty && fixture.blobs().isEmpty)
  }
}
