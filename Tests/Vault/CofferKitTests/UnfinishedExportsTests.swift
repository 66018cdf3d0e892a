// SPDX-License-Identifier: Apache-2.0
//
// What exports that were killed leave, and who finds it.

import Foundation
import MessageFormats
import Secrets
import TemporaryHomes
import Testing

@testable import CofferKit

@Suite("Exports that were killed")
struct UnfinishedExportsTests {
  private let files = FileManager.default

  /// A folder as a killed export leaves it, with its note.
  private func leave(_ exports: UnfinishedExports, in folder: String) throws -> String {
    let path = folder + "/coffer-unfinished-" + String(repeating: "5e", count: 16)
    exports.begin(path)
    try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data("plain".utf8).write(to: URL(filePath: path + "/1.txt"))
    return path
  }

  @Test("The examination names what is left, with and without keys, and stays healthy")
  func examined() throws {
    let (home, outside) = (try TemporaryHome(), try TemporaryHome())
    let coffer = try makeCoffer(home.path)
    let path = try leave(UnfinishedExports(home: home.path), in: outside.path)
    for diagnosis in [try coffer.examine(isDeep: false), try Diagnosis.withoutKeys(home: home.path)] {
      #expect(diagnosis.isHealthy)
      #expect(diagnosis.findings.contains { $0.severity == .advice && $0.text.contains(path) })
    }
    #expect(UnfinishedExports(home: home.path).removeLeftovers() == [path])
    #expect(!files.fileExists(atPath: path))
    #expect(!files.fileExists(atPath: home.path + "/unfinished"))
    #expect(!(try coffer.examine(isDeep: false)).findings.contains { $0.text.contains(path) })
  }

  @Test("A note outlasts a medium that is not there, and goes with what it is about")
  func unreachable() throws {
    let (home, outside) = (try TemporaryHome(), try TemporaryHome())
    try files.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    let exports = UnfinishedExports(home: home.path)
    let path = try leave(exports, in: outside.path + "/medium")
    try files.moveItem(atPath: outside.path + "/medium", toPath: outside.path + "/away")
    #expect(exports.leftovers() == .init(present: [], unreachable: [path]))
    #expect(exports.removeLeftovers() == [])
    try files.moveItem(atPath: outside.path + "/away", toPath: outside.path + "/medium")
    #expect(exports.leftovers() == .init(present: [path], unreachable: []))
    #expect(exports.removeLeftovers() == [path])
    #expect(exports.leftovers() == .init())
  }

  @Test("A note that names something else removes nothing")
  func forgedNote() throws {
    let (home, outside) = (try TemporaryHome(), try TemporaryHome())
    let notes = home.path + "/unfinished"
    try files.createDirectory(atPath: notes, withIntermediateDirectories: true)
    try files.createDirectory(atPath: outside.path + "/mine", withIntermediateDirectories: true)
    let kept = outside.path + "/mine/file"
    try Data("mine".utf8).write(to: URL(filePath: kept))
    for name in ["mine", "coffer-unfinished-" + String(repeating: "5e", count: 16)] {
      try Data((outside.path + "/mine").utf8).write(to: URL(filePath: notes + "/" + name))
    }
    #expect(UnfinishedExports(home: home.path).removeLeftovers() == [])
    #expect(files.fileExists(atPath: kept))
  }

  @Test("Erasing a coffer takes what its killed exports left, and its notes")
  func erased() throws {
    let (home, outside) = (try TemporaryHome(), try TemporaryHome())
    try makeCoffer(home.path).close()
    let path = try leave(UnfinishedExports(home: home.path), in: outside.path)
    #expect(try Erasure.erase(home: home.path) == Erasure.Remains())
    #expect(!files.fileExists(atPath: path) && !files.fileExists(atPath: home.path))
  }

  @Test("An export of a coffer that cannot be written to goes on without a note")
  func noNote() throws {
    let outside = try TemporaryHome()
    try files.createDirectory(atPath: outside.path, withIntermediateDirectories: true)
    var sink = try DirectorySink(
      path: outside.path + "/out", record: UnfinishedExports(home: "/proc/nowhere"))
    try sink.finish()
    #expect(files.fileExists(atPath: outside.path + "/out/metadata.jsonl"))
  }
}
