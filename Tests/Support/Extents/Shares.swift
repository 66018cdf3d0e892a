// SPDX-License-Identifier: Apache-2.0
//
// Cases are dealt out to shares, and the seed of a run says which share it plays. Every case is in exactly one share, so
// runs with consecutive seeds play all of them. Seeds that once failed (Failed.txt) are always played as well.

import Foundation
import SeededGenerators

/// What a run plays of a suite's cases.
public struct Shares: Sendable {
  /// The suite, as ``failedSeeds`` and the table of extents name it.
  public let suite: String
  /// Over how many runs of the extent `merge` the cases are dealt out.
  public let count: Int
  private let extent: Extent
  private let seed: UInt64
  private let failed: [UInt64]
  /// Where each suite adds its line; nil for nowhere.
  private let log: String?

  /// So many times as many shares as `merge` has, in the extent `quick`.
  static let quickFactor = 8
  /// After so many runs of the extent `merge` with consecutive seeds everything was played, whatever the suite.
  public static let most = 8

  /// - Parameters:
  ///   - suite: a name of its own, for the table of extents and for Failed.txt.
  ///   - count: 1 to ``most``.
  public init(_ suite: String, count: Int) {
    self.init(
      suite, count: count, extent: .current, seed: Extent.seed, failed: Self.failedSeeds[suite] ?? [],
      log: Extent.variable("COFFER_EXTENT_LOG"))
  }

  init(_ suite: String, count: Int, extent: Extent, seed: UInt64, failed: [UInt64], log: String? = nil) {
    precondition((1...Self.most).contains(count), "a suite has 1 to \(Self.most) shares")
    self.suite = suite
    self.count = count
    self.extent = extent
    self.seed = seed
    self.failed = failed
    self.log = log
  }

  /// Whether this run plays everything.
  public var isWhole: Bool { extent == .full }

  /// The shares that this run plays, from 0, and of how many: for programs that deal their cases out themselves.
  ///
  /// In the extent `full` there is one share.
  public var played: (indices: [Int], of: Int) {
    let shareCount = extent == .full ? 1 : extent == .quick ? count * Self.quickFactor : count
    return (indices(of: shareCount).sorted(), shareCount)
  }

  private func indices(of shareCount: Int) -> Set<Int> {
    Set(([seed] + (extent == .merge ? failed : [])).map { Int($0 % UInt64(shareCount)) })
  }

  /// The numbers of the cases that this run plays, of `total`, in order. There is at least one, if there are any.
  ///
  /// Neighbours are in different shares, but not in turn: what alternates from case to case is in every share.
  public func numbers(of total: Int) -> [Int] {
    guard extent != .full else { return Array(0..<total) }
    var random = SeededGenerator(run: UInt64(total))
    // The same for every seed.
    let order = (0..<total).shuffled(using: &random)
    let shareCount = min(extent == .quick ? count * Self.quickFactor : count, max(total, 1))
    let chosen = indices(of: shareCount)
    return order.indices.filter { chosen.contains($0 % shareCount) }.map { order[$0] }.sorted()
  }

  /// The cases that this run plays, in order; notes them for the table of extents.
  public func of<Cases: RandomAccessCollection>(_ cases: Cases) -> [Cases.Element] {
    let numbers = numbers(of: cases.count)
    note(played: numbers.count, of: cases.count)
    return numbers.map { cases[cases.index(cases.startIndex, offsetBy: $0)] }
  }

  /// A number of random cases, and a generator for each that is the same in each run with the seed.
  ///
  /// In the extent `full` there are `full` of them; in `merge` that divided by the number of shares, rounded up.
  public func generators(full: Int) -> [SeededGenerator] {
    let shareCount = extent == .quick ? count * Self.quickFactor : count
    let each = extent == .full ? full : max(1, (full + shareCount - 1) / shareCount)
    let seeds = [seed] + (extent == .quick ? [] : failed.filter { $0 != seed })
    note(played: each * seeds.count, of: full)
    return seeds.flatMap { seed in
      (0..<UInt64(each)).map { SeededGenerator(run: seed &* 1_000_003 &+ $0) }
    }
  }

  /// How often to do what is the same each time: `full` times, divided by the number of shares and rounded up.
  public func rounds(of full: Int) -> Int {
    let shareCount = played.of
    let rounds = max(1, (full + shareCount - 1) / shareCount)
    note(played: rounds, of: full)
    return rounds
  }

  /// Seeds of cases that are made from a number each: a share of those in `range`, as many that no other run plays, and
  /// those of Failed.txt, which are seeds of such cases here.
  public func seeds(_ range: Range<UInt64>) -> [UInt64] {
    let plain = Shares(suite, count: count, extent: extent, seed: seed, failed: [])
    let usual = plain.numbers(of: range.count).map { range.lowerBound + UInt64($0) }
    // Far from all that are played otherwise.
    let first = 1 << 32 + (seed & 0x7F_FFFF) << 16
    let new = (0..<UInt64(usual.count)).map { first + $0 }
    let others = extent == .quick ? [] : failed.filter { !usual.contains($0) }
    note(played: usual.count + new.count + others.count, of: 2 * range.count)
    return usual + new + others
  }

  /// In words, for a test that fails: how to play the same again.
  public var again: String {
    "COFFER_EXTENT=\(extent.rawValue) COFFER_SEED=\(seed)"
  }

  // MARK: The table of extents

  /// Adds a line to the file that COFFER_EXTENT_LOG names, if any: what this run plays, and of how much.
  public func note(played: Int, of total: Int) {
    guard let path = log else { return }
    let line = Array("\(suite)\t\(played)\t\(total)\t\(count)\n".utf8)
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // One call, so that lines of several processes are not mixed.
    _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
  }

  // MARK: Seeds that failed

  /// Seeds with which a suite once failed, from Failed.txt beside this file: they are played in every `merge`.
  public static let failedSeeds: [String: [UInt64]] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Failed.txt")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else {
      preconditionFailure("Tests/Support/Extents/Failed.txt cannot be read")
    }
    return parse(failed: text)
  }()

  /// Lines of a suite's name, a tab, a seed, a tab and a reason; lines with # are remarks.
  static func parse(failed text: String) -> [String: [UInt64]] {
    var seeds: [String: [UInt64]] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: "\t")
      guard fields.count == 3, let seed = UInt64(fields[1]) else {
        preconditionFailure(
          "a line of Failed.txt is a suite, a seed and a reason, with tabs between: '\(line)'")
      }
      seeds[String(fields[0]), default: []].append(seed)
    }
    return seeds
  }
}
