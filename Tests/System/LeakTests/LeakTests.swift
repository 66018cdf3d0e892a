// SPDX-License-Identifier: Apache-2.0
//
// Nothing secret stays behind after an operation: not in the memory of the process, not in a core dump, not in
// files. The table goes to the file that COFFER_LEAK_TABLE names (scripts/leak-table).

import Foundation
import Glibc
import SoftwareTPM
import Testing

@Suite("What operations leave behind", .serialized)
struct LeakTests {
  @Test("No operation leaves a secret, a half of it, or another form of it")
  func nothingStays() throws {
    let table = try LeakTable.whole.get()
    print("leaks: \(table.summary)")
    if let path = ProcessInfo.processInfo.environment["COFFER_LEAK_TABLE"] {
      try Data((table.text + "\n").utf8).write(to: URL(filePath: path))
    }
    for row in table.rows {
      if case .failed(let reason) = row.outcome { Issue.record("\(row.operation): \(reason)") }
    }
    // Only a chip that is not there leaves something out.
    #expect(!table.runs.isEmpty)
    #expect(table.runs.count == table.rows.count || !SoftwareTPM.isInstalled)
    for run in table.runs {
      for copy in run.ownCopies.prefix(10) { Issue.record("\(run.operation): \(copy)") }
      #expect(run.unreadByteCount == 0, "\(run.operation): all of its memory was read")
      #expect(!run.secrets.isEmpty && run.memoryByteCount > 1 << 20, "\(run.operation): there was a search")
    }
  }

  @Test("Every known copy of a library is still one")
  func knownCopies() throws {
    let runs = try LeakTable.whole.get().runs
    for known in LibraryCopy.known where runs.contains(where: { $0.operation == known.operation }) {
      let isSeen = runs.contains { run in
        run.libraryCopies.contains { known.covers($0, of: run.operation) }
      }
      #expect(isSeen, "\(known.operation), \(known.secret): strike it off the list")
    }
  }

  @Test("The search finds what is left on purpose: on the heap, on the stack, in strings, in files, in parts")
  func deliberateLeak() throws {
    let run = try LeakTable.whole.get().control
    let memory: [(secret: String, form: String)] = [
      ("on the heap", "as it is"), ("in reverse", "in reverse"), ("in hexadecimal", "hexadecimal"),
      ("in upper case", "hexadecimal, upper case"), ("in base64", "base64"),
      ("in base64, shifted", "base64"), ("as UTF-16", "UTF-16"), ("on the stack", "as it is"),
    ]
    for (secret, form) in memory {
      for part in ["first half", "second half"] {
        #expect(
          run.memory.contains { $0.secret == secret && $0.form == form && $0.part == part },
          "\(secret), \(part)")
      }
    }
    #expect(run.memory.contains { $0.secret == "on the stack" && $0.place == "[stack]" })
    for part in ["first half", "second half"] {
      let found = run.memory.filter { $0.secret == part }
      #expect(!found.isEmpty && found.allSatisfy { $0.part == part }, "\(part) alone")
    }
    #expect(run.files.contains { $0.secret == "in a file" && $0.form == "base64" && $0.place == "leaked" })
    #expect(run.unreadByteCount == 0)
    if case .searched(let copies, _) = run.core { #expect(copies.contains { $0.secret == "on the heap" }) }
    #expect(run.ownCopies.count >= 2 * memory.count)
  }

  @Test("Keys in use are in pages for secrets and nowhere else, and not in a core dump")
  func keysInUse() throws {
    let run = try LeakRun("keys-in-use")
    let found = Set(run.memory.map(\.secret))
    #expect(
      found.isSuperset(of: [
        "secret of a program", "when-unlocked key", "after-first-unlock key", "state key",
      ]))
    #expect(run.memory.filter { !$0.isInSecretMemory }.map(\.description) == [])
    #expect(run.files.map(\.description) == [])
    #expect(run.fileByteCount > 0)
    if case .searched(let copies, _) = run.core { #expect(copies.map(\.description) == []) }
    if case .file = CorePattern.current { #expect(run.isCoreSearched) }
  }

  @Test("A process as the commands have it leaves no core and tells nothing when a signal ends it")
  func productLeavesNoCore() throws {
    let place = try LeakPlace()
    let complaints = place.given + "/complaints"
    let probe = try Probe(
      ["product", "keys-in-use", place.searched, place.given], in: place.work, complaints: complaints)
    #expect(!probe.secrets.isEmpty)
    #expect(probe.end(by: SIGABRT) == false, "it ended at once, and the kernel wrote no core")
    #expect(place.core == nil)
    #expect(try String(contentsOfFile: complaints, encoding: .utf8) == "")
  }
}
