// SPDX-License-Identifier: Apache-2.0
//
// One edit with an editor that is a line of shell: `$1` is the file, and no quote ' may be in it.

import Foundation
import Secrets

@testable import Editing

enum Edits {
  /// The program that is the editor's process, and that asks for edits.
  static let probe = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "editor-probe").resolvingSymlinksInPath().path

  static func editor(_ script: String) -> String { "sh -c '\(script)' sh" }

  static func environment(_ script: String, home: String = "/nonexistent") -> [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter {
      ["PATH", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE"].contains($0.key)
    }
    environment["VISUAL"] = editor(script)
    environment["HOME"] = home
    return environment
  }

  /// What comes of a text: the other text, or nil when it is unchanged.
  static func edit(
    _ text: String, _ script: String, ending: String = "txt", limit: Int = 1 << 20,
    home: String = "/nonexistent"
  ) throws -> String? {
    let editor = try TextEditor(executable: probe, environment: environment(script, home: home))
    return try edit(text, with: editor, ending: ending, limit: limit)
  }

  @discardableResult
  static func edit(
    _ text: String = "one", with editor: TextEditor, ending: String = "txt", limit: Int = 1 << 20
  ) throws -> String? {
    let edited = try editor.edit(Array(text.utf8).span.bytes, ending: ending, byteCountLimit: limit)
    switch consume edited {
    case .unchanged: return nil
    case .changed(let text):
      return text.withBytes { bytes in
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  /// A folder on a disk, outside of /tmp; it is beside the tests' program.
  static func folderOnDisk() throws -> URL {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "editing-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Processes with these words in their command lines, which everybody may read.
  static func processes(with words: String) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { process in
      guard process != getpid(), let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
      else {
        return false
      }
      return line.range(of: Data(words.utf8)) != nil
    }
  }

  /// Of processes that stand one below the other, the lowest. It need not have the highest number: these begin again.
  static func lowest(of processes: [Int32]) -> Int32? {
    let parents = processes.compactMap { process in
      let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      return status?.split(separator: "\n").first { $0.hasPrefix("PPid:") }?.split(separator: "\t").last
        .flatMap { Int32($0) }
    }
    return processes.first { !parents.contains($0) }
  }
}
