// SPDX-License-Identifier: Apache-2.0
//
// Which share of the cases a run of the tests plays: none may be lost between the shares.

import Foundation
import Testing

@testable import Extents

@Suite("Extents of the tests")
struct ExtentTests {
  private static func shares(
    _ count: Int, _ extent: Extent = .merge, seed: UInt64 = 0, failed: [UInt64] = [], log: String? = nil
  ) -> Shares {
    Shares("a suite", count: count, extent: extent, seed: seed, failed: failed, log: log)
  }

  private static let totals = [0, 1, 2, 7, 8, 9, 63, 64, 65, 1_000, 2_236]

  @Test("As many consecutive seeds as there are shares play each case exactly once", arguments: 1...8)
  func partition(_ count: Int) {
    for total in Self.totals where total == 0 || total >= count {
      for first: UInt64 in [0, 5, 1_234_567, .max - 20] {
        let played = (0..<UInt64(count)).map { Self.shares(count, seed: first + $0).numbers(of: total) }
        #expect(played.flatMap(\.self).sorted() == Array(0..<total), "\(total) cases")
        #expect(played.allSatisfy { $0 == $0.sorted() })
        // No share has two cases more than another.
        let sizes = played.map(\.count)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1, "\(total) cases")
      }
    }
  }

  @Test("With fewer cases than shares each run plays one, and consecutive seeds play all of them")
  func few() {
    for total in 1..<8 {
      let played = (0..<8).map { Self.shares(8, seed: 40 + $0).numbers(of: total) }
      #expect(played.allSatisfy { $0.count == 1 })
      #expect(Set(played.flatMap(\.self)) == Set(0..<total))
    }
  }

  @Test("The extent full plays everything, with every seed")
  func full() {
    for total in Self.totals {
      for seed: UInt64 in 0..<3 {
        #expect(Self.shares(8, .full, seed: seed).numbers(of: total) == Array(0..<total))
      }
    }
    let whole = Self.shares(8, .full, seed: 5)
    #expect(whole.isWhole && whole.played.indices == [0] && whole.played.of == 1)
    #expect(whole.generators(full: 60).count == 60)
    #expect(whole.rounds(of: 60) == 60)
    #expect(Self.shares(8).rounds(of: 60) == 8 && Self.shares(8).rounds(of: 1) == 1)
    #expect(Self.shares(8, .quick).rounds(of: 640) == 10)
  }

  @Test("The extent quick plays less than merge, but something of everything")
  func quick() {
    for total in Self.totals where total > 0 {
      let quick = Self.shares(8, .quick, seed: 3).numbers(of: total)
      let merge = Self.shares(8, seed: 3).numbers(of: total)
      #expect(!quick.isEmpty && quick.count <= merge.count)
      if total > 64 { #expect(8 * quick.count <= total) }
      // What it plays rotates as well.
      let all = (0..<64).map { Self.shares(8, .quick, seed: $0).numbers(of: total) }
      #expect(Set(all.flatMap(\.self)) == Set(0..<total))
    }
    #expect(Self.shares(8, .quick).generators(full: 60).count == 1)
    #expect(Self.shares(8, .quick, seed: 65).played == (indices: [1], of: 64))
  }

  @Test("Seeds that once failed are played in every merge beside its own")
  func failedSeeds() {
    for seed: UInt64 in 0..<8 {
      let played = Set(Self.shares(8, seed: seed, failed: [3, 13]).numbers(of: 100))
      for other in [seed, 3, 13] {
        #expect(played.isSuperset(of: Self.shares(8, seed: other).numbers(of: 100)))
      }
      #expect(Self.shares(8, seed: seed, failed: [3, 13]).played.indices == Set([Int(seed), 3, 5]).sorted())
      let generated = Self.shares(8, seed: seed, failed: [3, 13]).generators(full: 16)
      #expect(generated.count == (seed == 3 ? 4 : 6))
      #expect(Self.shares(8, seed: seed, failed: [77]).seeds(1..<26).contains(77))
    }
    #expect(Self.shares(8, .full, failed: [77]).seeds(1..<26).contains(77))
  }

  @Test("Random cases are the same with the same seed, and others with another")
  func generators() {
    func draws(_ seed: UInt64) -> [UInt64] {
      Self.shares(8, seed: seed).generators(full: 60).map { generator in
        var generator = generator
        return generator.next()
      }
    }
    #expect(draws(1).count == 8 && draws(1) == draws(1))
    let all = (0..<200).flatMap { draws($0) }
    #expect(Set(all).count == all.count)
  }

  @Test("Seeds of a range are dealt out, and as many new ones are played beside them")
  func seeds() {
    let runs = (0..<8).map { Self.shares(8, seed: $0).seeds(1..<26) }
    #expect(runs.flatMap { $0.filter { $0 < 26 } }.sorted() == Array(1..<26))
    let new = (0..<100).flatMap { Self.shares(8, seed: $0).seeds(1..<26).filter { $0 >= 26 } }
    #expect(Set(new).count == new.count && new.count >= 300)
    #expect(Self.shares(8, .full).seeds(1..<26).count == 50)
    #expect(Self.shares(8, .full).seeds(1..<26).starts(with: 1..<26))
  }

  @Test("Each suite notes what it played, of how much, and in how many shares")
  func log() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "extents-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let shares = Self.shares(8, seed: 2, log: file.path())
    #expect(shares.of(Array("abcdefghijklmnop")).count == 2)
    _ = shares.generators(full: 60)
    _ = shares.seeds(1..<9)
    shares.note(played: 5, of: 10)
    #expect(
      try String(contentsOf: file, encoding: .utf8)
        == "a suite\t2\t16\t8\na suite\t8\t60\t8\na suite\t2\t16\t8\na suite\t5\t10\t8\n")
  }

  @Test("The list of seeds that failed is read, and names a suite, a seed and a reason in each line")
  func list() {
    #expect(
      Shares.parse(failed: "# a remark\nkills\t12\ttoo late\nkills\t9\tlost\nflips\t7\twrong\n") == [
        "kills": [12, 9], "flips": [7],
      ])
    #expect(Shares.failedSeeds.values.allSatisfy { !$0.isEmpty })
  }
}
