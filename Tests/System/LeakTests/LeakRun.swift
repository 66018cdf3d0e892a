// SPDX-License-Identifier: Apache-2.0
//
// One operation: done by a probe, then searched in the probe's memory, its core and its files.

import Foundation
import Glibc
import MemorySearch

/// A copy of a secret, or of a part of it, where none should be.
struct Copy: Sendable, CustomStringConvertible {
  let secret: String
  let part: String
  let form: String
  /// The name of a region or a file.
  let place: String
  let offset: UInt
  /// Whether it stands in pages for secrets: a value that has not been let go.
  let isInSecretMemory: Bool

  var description: String {
    "\(secret), \(part), \(form), in \(place)\(isInSecretMemory ? " (pages for secrets)" : "") "
      + "at \(String(offset, radix: 16))"
  }
}

/// What became of a core dump.
enum CoreSearch: Sendable {
  case searched([Copy], byteCount: Int)
  /// The kernel wrote none, or handed it to a program.
  case none(String)
}

/// What the search found after an operation.
struct LeakRun: Sendable {
  let operation: String
  let secrets: [String]
  let traceCount: Int
  var memory: [Copy] = []
  var memoryByteCount = 0
  /// Bytes that should be readable and were not.
  var unreadByteCount = 0
  var core = CoreSearch.none("not looked for")
  var files: [Copy] = []
  var fileByteCount = 0

  /// Does `operation` and searches.
  ///
  /// - Parameters:
  ///   - operation: as `leak-probe list` names it.
  ///   - tcti: the way to a chip.
  init(_ operation: String, tcti: String? = nil) throws {
    let place = try LeakPlace()
    let probe = try Probe(
      ["dumpable", operation, place.searched, place.given] + (tcti.map { [$0] } ?? []), in: place.work,
      complaints: place.given + "/complaints")
    let search = TraceSearch(probe.secrets)
    self.operation = operation
    secrets = probe.secrets.map(\.name)
    traceCount = search.traceCount
    let window = SearchWindow(search)
    try searchMemory(probe, window)
    try searchRegisters(probe, window)
    let isDumped = probe.end(by: SIGABRT) == true
    searchCore(isDumped, probe, place, window)
    try searchFiles(probe, place, window)
  }

  private mutating func searchMemory(_ probe: Probe, _ window: SearchWindow) throws {
    let memory = open("/proc/\(probe.process)/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw MemoryRegion.Unreadable() }
    defer { close(memory) }
    let pages = PageMap(of: probe.process)
    for region in try MemoryRegion.all(of: probe.process) {
      for part in region.parts(pages) {
        unreadByteCount += window.searchFile(memory, part) { secret, trace, place in
          self.memory.append(
            Copy(
              secret: probe.secrets[secret].name, part: trace.part, form: trace.form, place: region.name,
              offset: place, isInSecretMemory: region.isForSecrets))
        }
      }
      memoryByteCount += region.range.count
    }
  }

  private mutating func searchRegisters(_ probe: Probe, _ window: SearchWindow) throws {
    let registers = try ProbeRegisters.all(of: probe.process)
    memoryByteCount += registers.count
    window.searchBytes(registers) { secret, trace, place in
      memory.append(
        Copy(
          secret: probe.secrets[secret].name, part: trace.part, form: trace.form, place: "registers",
          offset: place, isInSecretMemory: false))
    }
  }

  private mutating func searchCore(
    _ isDumped: Bool, _ probe: Probe, _ place: LeakPlace, _ window: SearchWindow
  ) {
    guard isDumped else { return core = .none("the kernel wrote none") }
    guard case .file = CorePattern.current else { return core = .none(CorePattern.current.words) }
    guard let path = place.core else { return core = .none("not where the pattern says") }
    var copies: [Copy] = []
    let byteCount = Self.searchFile(path, named: "core", probe, window, into: &copies)
    unlink(path)
    core = .searched(copies, byteCount: byteCount)
  }

  private mutating func searchFiles(_ probe: Probe, _ place: LeakPlace, _ window: SearchWindow) throws {
    for file in try FileManager.default.subpathsOfDirectory(atPath: place.searched) {
      fileByteCount += Self.searchFile(place.searched + "/" + file, named: file, probe, window, into: &files)
    }
  }

  /// - Returns: how many bytes were searched.
  private static func searchFile(
    _ path: String, named name: String, _ probe: Probe, _ window: SearchWindow, into copies: inout [Copy]
  ) -> Int {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    var found: [Copy] = []
    let unread = window.searchWritten(descriptor, byteCount: Int(status.st_size)) { secret, trace, place in
      found.append(
        Copy(
          secret: probe.secrets[secret].name, part: trace.part, form: trace.form, place: name,
          offset: place, isInSecretMemory: false))
    }
    copies += found
    return Int(status.st_size) - unread
  }
}
