// SPDX-License-Identifier: Apache-2.0
//
// A coffer with a TPM in software, a slot for a PIN and an agent. The agent ends with the bench, and with the
// test process.

import AgentLeash
import Foundation
import Glibc
import SoftwareTPM

final class SessionFixture {
  let tpm: SoftwareTPM
  let fixture: CofferFixture
  private let leash: AgentLeash
  static let pin = "482913"
  var pinFile: String { fixture.folder + "/pin" }

  /// Makes a coffer with a PIN slot and opens a session.
  init() throws {
    tpm = try SoftwareTPM()
    fixture = try CofferFixture(tcti: tpm.tcti)
    leash = try AgentLeash(folder: fixture.folder)
    try Data(Self.pin.utf8).write(to: URL(filePath: fixture.folder + "/pin"))
    try fixture.makeCoffer().close()
    for words in [["slot", "add", "tpm", "--pin-file", pinFile], ["unlock"]] {
      let run = try fixture.start(words).wait()
      guard run.isDone else { throw UnexpectedRun(run: run) }
    }
  }

  /// Runs the command without passphrase or PIN but those in `words`.
  func run(_ words: String...) throws -> CofferRun { try run(words) }

  func run(_ words: [String]) throws -> CofferRun { try fixture.start(words, secret: []).wait() }

  /// The agent; nil when there is none. It is a process `coffer agent --home HOME …`.
  func agent() throws -> pid_t? {
    let home = try FileManager.default.destination(of: fixture.home)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.first {
      let line = (try? Data(contentsOf: URL(filePath: "/proc/\($0)/cmdline"))) ?? Data()
      let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return words.count > 3 && words[1] == "agent" && words[3] == home
    }
  }

  /// Until that agent has ended.
  func waitForEnd(of former: pid_t) throws {
    let start = ContinuousClock.now
    while try agent() == former {
      guard ContinuousClock.now - start < .seconds(CofferRun.limitSeconds) else {
        throw POSIXError(.ETIMEDOUT)
      }
      usleep(1_000)
    }
  }

  /// Whether a process was stopped by a signal and not awoken (proc_pid_stat(5)).
  static func isStopped(_ process: pid_t) throws -> Bool {
    let status = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status.split(separator: ")").last?.split(separator: " ").first == "T"
  }

  /// A process's resident set in KiB, and how many descriptors it has; nil where only root may count them.
  static func size(of process: pid_t) throws -> (residentKiB: Int, descriptors: Int?) {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let resident = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    return (resident ?? 0, descriptors)
  }
}

extension FileManager {
  /// A path without symbolic links.
  fileprivate func destination(of path: String) throws -> String {
    guard let real = realpath(path, nil) else { throw POSIXError(.ENOENT) }
    defer { free(real) }
    return String(cString: real)
  }
}
