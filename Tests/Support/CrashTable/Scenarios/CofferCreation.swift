// SPDX-License-Identifier: Apache-2.0

import CofferKit
import CrashDisk
import Foundation
import Storage

/// A new coffer: whole, or none; and where there is none, one can be made.
final class CofferCreation: CrashScenario {
  let store = "file"
  let operation = "coffer create"
  /// A judgement makes a whole coffer.
  let stride = 2
  /// Below the folder that is there, so that a folder has to be made too.
  private func place(_ home: String) -> String { home + "/data/coffer" }

  func prepare(_ home: String) throws {}

  func operate(_ home: String) throws {
    let coffer = try CofferOperation.create(place(home))
    coffer.close()
  }

  func judge(_ home: String) throws -> CrashVerdict {
    let verdict = DatabaseFile.exists(home: place(home)) ? CrashVerdict.after : .before
    if verdict == .before { return try couldBeMade(home) }
    let opened = try CofferOperation.open(place(home))
    defer { opened.coffer.close() }
    let contents = try CofferOperation.contents(opened)
    guard contents.slotCount == 2, contents.opening == [CofferOperation.secrets[0]] else {
      throw CrashFinding.mixed("the coffer does not have the slots that it was made with")
    }
    return .after
  }

  /// Tries it in a copy elsewhere: the judgement is not to make what it looks for.
  private func couldBeMade(_ home: String) throws -> CrashVerdict {
    let copy = URL(filePath: RecordedDisk.parent).appending(path: "coffer-copy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: copy) }
    try DiskImage(of: home).write(to: copy.path)
    try operate(copy.path)
    return .before
  }
}
