// SPDX-License-Identifier: Apache-2.0
//
// Stores with the usual mistakes. Each writes a file of its own and one of a second name, whose contents
// belong together.

import CrashDisk
import Foundation
import Glibc

/// Two files, replaced by others; what is left out of that is the mistake.
class FaultyStore: CrashScenario {
  let store = "guilty"
  var operation: String { "" }
  private static let names = ["first", "second"]
  private static let byteCount = 3_000

  /// Does a file wait until its contents are on the disk?
  var synchronisesFiles: Bool { true }
  /// And its name?
  var synchronisesFolder: Bool { true }
  /// Are both in one file, so that they change at once?
  var isOneFile: Bool { true }

  func prepare(_ home: String) throws { try write("before", home) }
  func operate(_ home: String) throws { try write("after", home) }

  func judge(_ home: String) throws -> CrashVerdict {
    let found = try (isOneFile ? ["first"] : Self.names).map { name in
      let text = String(decoding: try Data(contentsOf: URL(filePath: home + "/" + name)), as: UTF8.self)
      guard let verdict = CrashVerdict(rawValue: text.trimmingCharacters(in: .whitespaces)),
        text.utf8.count == Self.byteCount
      else { throw CrashFinding.lost("the file is damaged") }
      return verdict
    }
    guard Set(found).count == 1 else { throw CrashFinding.mixed("one file is new and the other is not") }
    return found[0]
  }

  private func write(_ text: String, _ home: String) throws {
    let padded = text.padding(toLength: Self.byteCount, withPad: " ", startingAt: 0)
    for name in isOneFile ? ["first"] : Self.names { try replace(name, padded, home) }
  }

  private func replace(_ name: String, _ text: String, _ home: String) throws {
    let path = home + "/" + name
    let descriptor = Glibc.open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw CrashFinding.lost("open") }
    let bytes = Array(text.utf8)
    let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    let isSynchronised = !synchronisesFiles || fsync(descriptor) == 0
    Glibc.close(descriptor)
    guard written == bytes.count, isSynchronised, rename(path + ".new", path) == 0 else {
      throw CrashFinding.lost("write")
    }
    guard synchronisesFolder else { return }
    let folder = Glibc.open(home, O_RDONLY | O_DIRECTORY)
    defer { Glibc.close(folder) }
    guard fsync(folder) == 0 else { throw CrashFinding.lost("fsync") }
  }
}

/// Forgets to synchronise what it has written before it gives it the name.
final class UnsynchronisedFile: FaultyStore {
  override var operation: String { "contents not synchronised" }
  override var synchronisesFiles: Bool { false }
}

/// Forgets that a name is in a folder.
final class UnsynchronisedFolder: FaultyStore {
  override var operation: String { "name not synchronised" }
  override var synchronisesFolder: Bool { false }
}

/// Changes two files that belong together, each with care, one after the other.
final class TwoSteps: FaultyStore {
  override var operation: String { "two steps, no recovery" }
  override var isOneFile: Bool { false }
}
