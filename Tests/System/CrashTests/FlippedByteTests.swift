// SPDX-License-Identifier: Apache-2.0
//
// One byte of the file is changed, and commands are run on it. Each either answers as if nothing had
// happened, or says that the coffer is damaged (exit code 5). Nothing in between: no other answer, no other
// code, no crash. Most run in two processes that are started anew after a crash; some have one of their own.

import CofferKit
import Extents
import Foundation
import MessageFormats
import Testing
import Vaults

extension CrashTests {
  @Suite("Flipped bytes", .serialized)
  struct FlippedByteTests {
    private static let sample = Result { try FlipSample() }
    /// Of so many flips one has processes of its own.
    private static let processStride = 20

    @Test("Every command answers as before or says that the coffer is damaged")
    func reading() throws {
      let sample = try Self.sample.get()
      let all = sample.flips()
      #expect(all.count >= 2_000)
      let shares = Shares("flipped bytes, reading", count: 8)
      let flips = shares.of(all)
      let outcomes = try inParallel(flips) { flip, fixture in
        // The list and a message take turns, so that each place costs two processes.
        let reading = flip.number % 2 == 0 ? sample.list : .show(sample.ids[flip.number % sample.ids.count])
        let rotating = sample.commands[flip.number % sample.commands.count]
        return try [reading, rotating].map { command in
          try fixture.put(sample.file(with: flip))
          let run =
            flip.number % Self.processStride == 0
            ? try fixture.start(command.words).wait() : try fixture.runWithin(command.words)
          return sample.judge(command, run, flip)
        }
      }.flatMap(\.self)

      var table = [["command", "flips", "harmless", "refused (5)", "wrong"]]
      for name in Set(outcomes.map(\.command)).sorted() {
        let of = outcomes.filter { $0.command == name }
        table.append(
          [name, "\(of.count)"]
            + FlipSample.Verdict.allCases.map { verdict in "\(of.count { $0.verdict == verdict })" })
      }
      printTable("Flipped bytes: \(flips.count) places of \(sample.file.count) bytes, \(shares.again)", table)
      let wrong = outcomes.filter { $0.verdict == .wrong }.map(\.detail)
      #expect(wrong.isEmpty, "\(shares.again)\n\(wrong.prefix(20).joined(separator: "\n"))")
    }

    @Test("A message added to a damaged coffer is there, or the damage is named")
    func writing() throws {
      let sample = try Self.sample.get()
      let all = sample.flips()
      let shares = Shares("flipped bytes, writing", count: 8)
      let flips = shares.of((0..<100).map { all[$0 * all.count / 100] } + sample.freePageFlips())
      let before = Set(sample.listed)
      // Takes several free pages.
      let content = Data(repeating: UInt8(ascii: "n"), count: 20_000)
      let answers = try inParallel(flips) { flip, fixture -> String in
        let note = fixture.folder + "/note"
        try content.write(to: URL(filePath: note))
        try fixture.put(sample.file(with: flip))
        let run = { (words: String...) in
          flip.number % Self.processStride == 0
            ? try fixture.start(words).wait() : try fixture.runWithin(words)
        }
        let readable = try run("message", "list", "--json").lines
        try fixture.put(sample.file(with: flip))
        let added = try run("message", "add", "--title", "new", note)
        guard added.isDone else { return added.end == .exited(5) ? "refused (5)" : "\(flip): \(added)" }
        let id = try #require(added.lines.first)
        let shown = try run("message", "show", id, "--raw")
        let list = try run("message", "list", "--json")
        if list.end == .exited(5), !Set(readable).isSubset(of: list.lines) {
          return "added, another lost (5)"
        }
        if shown.end == .exited(5) || list.end == .exited(5) { return "added, then refused (5)" }
        guard shown.isDone, shown.output == content, list.isDone,
          Set(list.lines).subtracting(before).count == 1, before.isSubset(of: list.lines)
        else { return "\(flip): \(shown), \(list)" }
        return "added, whole"
      }
      let counts = Dictionary(grouping: answers, by: \.self).mapValues(\.count)
      let good = ["added, whole", "added, then refused (5)", "added, another lost (5)", "refused (5)"]
      printTable("A message added to a file with a flipped byte", good.map { [$0, "\(counts[$0] ?? 0)"] })
      let wrong = counts.keys.filter { !good.contains($0) }
      #expect(wrong.isEmpty, "\(shares.again)\n\(wrong.prefix(20).joined(separator: "\n"))")
    }
  }
}
