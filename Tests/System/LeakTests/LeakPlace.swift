// SPDX-License-Identifier: Apache-2.0

import Foundation
import TemporaryHomes

/// The folders of one probe; gone with this value.
final class LeakPlace {
  private let home: TemporaryHome
  /// All below it is searched.
  let searched: String
  /// For what is plain by its nature; not searched.
  let given: String
  /// Where the probe goes to, and where a core is: below `searched`.
  var work: String { searched + "/work" }

  init() throws {
    home = try TemporaryHome()
    searched = home.path + "/searched"
    given = home.path + "/given"
    for folder in [searched + "/work", given] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }

  /// The core that a probe left where it ran: an ELF file (elf(5)).
  var core: String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: work)) ?? []
    return names.map { work + "/" + $0 }.first { path in
      guard let file = FileHandle(forReadingAtPath: path) else { return false }
      defer { try? file.close() }
      return file.readData(ofLength: 4) == Data([0x7F, 0x45, 0x4C, 0x46])
    }
  }
}

/// What this machine does with cores (core(5)).
enum CorePattern {
  /// A file where the process ran.
  case file
  /// Standard input of a program.
  case program
  /// A file in a folder of the system.
  case elsewhere

  static let current: CorePattern = {
    let pattern = (try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)) ?? "|"
    if pattern.hasPrefix("|") { return .program }
    return pattern.contains("/") ? .elsewhere : .file
  }()

  /// For the table.
  var words: String {
    switch self {
    case .file: "file"
    case .program: "pipe"
    case .elsewhere: "elsewhere"
    }
  }
}
