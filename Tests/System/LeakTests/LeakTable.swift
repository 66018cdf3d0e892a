// SPDX-License-Identifier: Apache-2.0
//
// The table: operation, secrets searched, hits in memory, core and files, and hits of libraries.

import Dispatch
import Extents
import Foundation
import SoftwareTPM
import Synchronization

/// What all operations left behind, or in the extents below `full` a share of them.
struct LeakTable: Sendable {
  /// In the probe's order. A run that failed is an error; one that was left out says why.
  let rows: [Row]
  /// Leaves copies on purpose, which the search must find.
  let control: LeakRun

  struct Row: Sendable {
    let operation: String
    let outcome: Outcome
  }

  enum Outcome: Sendable {
    case searched(LeakRun)
    case leftOut(String)
    case failed(String)
  }

  /// Runs every operation that is not a control; once for the whole test process.
  static let whole: Result<LeakTable, any Error> = Result { try LeakTable() }

  private init() throws {
    control = try LeakRun("deliberate-leak")
    let operations = Shares("operations searched for leaks", count: 8).of(
      try Probe.operations().filter { $0.need != "control" })
    let chip = SoftwareTPM.isInstalled ? try SoftwareTPM() : nil
    // Several operations offer a wrong PIN, and all share the chip.
    try chip?.setLockout(tries: 30)
    let done = Mutex<[Int: Outcome]>([:])
    @Sendable func run(_ index: Int, tcti: String?) {
      let outcome = Self.outcome(operations[index].name, tcti: tcti)
      done.withLock { $0[index] = outcome }
    }
    let (withChip, others) = (
      operations.indices.filter { operations[$0].need == "chip" },
      operations.indices.filter { operations[$0].need != "chip" }
    )
    // A chip is used by one at a time: it has room for few sessions.
    DispatchQueue.concurrentPerform(iterations: 1 + others.count) { turn in
      if turn > 0 { return run(others[turn - 1], tcti: nil) }
      for index in withChip {
        if let chip {
          run(index, tcti: chip.tcti)
        } else {
          done.withLock { $0[index] = .leftOut("needs swtpm") }
        }
      }
    }
    let outcomes = done.withLock { $0 }
    rows = operations.indices.compactMap { index in
      outcomes[index].map { Row(operation: operations[index].name, outcome: $0) }
    }
  }

  private static func outcome(_ name: String, tcti: String?) -> Outcome {
    do { return .searched(try LeakRun(name, tcti: tcti)) } catch { return .failed("\(error)") }
  }

  var runs: [LeakRun] {
    rows.compactMap { if case .searched(let run) = $0.outcome { run } else { nil } }
  }

  // MARK: Text

  var text: String {
    var lines = [
      "| operation | secrets searched | traces | memory, registers | core | files | of libraries |",
      "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows {
      switch row.outcome {
      case .searched(let run): lines.append(Self.line(run))
      case .leftOut(let reason): lines.append("| \(row.operation) | left out: \(reason) | | | | | |")
      case .failed: lines.append("| \(row.operation) | failed | | | | | |")
      }
    }
    return (lines + ["", summary]).joined(separator: "\n")
  }

  /// One line.
  var summary: String {
    let bytes = runs.reduce(0) { $0 + $1.memoryByteCount }
    let left = control.ownCopies
    return "\(runs.count) operations; \(bytes >> 20) MiB of memory searched, "
      + "\(runs.reduce(0) { $0 + $1.coreByteCount } >> 20) MiB of cores, "
      + "\(runs.reduce(0) { $0 + $1.fileByteCount } >> 10) KiB of files. "
      + "Hits in what is ours: \(runs.reduce(0) { $0 + $1.ownCopies.count }). "
      + "Control: of what was left on purpose, \(left.count) copies in "
      + "\(Set(left.map(\.form)).count) forms were found."
  }

  private static func line(_ run: LeakRun) -> String {
    var counts: [(name: String, count: Int)] = []
    for name in run.secrets {
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].count += 1
      } else {
        counts.append((name, 1))
      }
    }
    let secrets = counts.map { $0.count > 1 ? "\($0.name) × \($0.count)" : $0.name }.joined(separator: ", ")
    let core: String
    switch run.core {
    case .searched(let copies, _): core = "\(run.own(copies).count)"
    case .none(let reason): core = reason
    }
    return "| \(run.operation) | \(secrets) | \(run.traceCount) | \(run.own(run.memory).count) | \(core) "
      + "| \(run.own(run.files).count) | \(run.libraryCopies.count) |"
  }
}

extension LeakRun {
  private var coreCopies: [Copy] { if case .searched(let copies, _) = core { copies } else { [] } }
  var coreByteCount: Int { if case .searched(_, let count) = core { count } else { 0 } }
  var isCoreSearched: Bool { if case .searched = core { true } else { false } }
  private var all: [Copy] { memory + coreCopies + files }

  func own(_ copies: [Copy]) -> [Copy] {
    copies.filter { copy in !LibraryCopy.known.contains { $0.covers(copy, of: operation) } }
  }

  var ownCopies: [Copy] { own(all) }

  var libraryCopies: [Copy] {
    all.filter { copy in LibraryCopy.known.contains { $0.covers(copy, of: operation) } }
  }
}
