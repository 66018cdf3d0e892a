// SPDX-License-Identifier: Apache-2.0
//
// How much of the tests a run plays. An extent changes how many cases are played, never which rules they are judged by.
//
//   COFFER_EXTENT        quick, merge or full; merge unless said
//   COFFER_SEED          which share of the cases; scripts/test takes the number of commits
//   COFFER_EXTENT_LOG    a file that each suite adds a line to: what it played, and of how much

import Foundation

/// How much a run of the tests plays.
public enum Extent: String, Sendable, CaseIterable {
  /// A small share, after each change of a module below.
  case quick
  /// A share that rotates with the seed, before each merge.
  case merge
  /// Everything.
  case full

  /// The extent of this process.
  public static let current: Extent = {
    guard let word = variable("COFFER_EXTENT"), !word.isEmpty else { return .merge }
    guard let extent = Extent(rawValue: word) else {
      preconditionFailure("COFFER_EXTENT is quick, merge or full, not '\(word)'")
    }
    return extent
  }()

  /// The seed of this process: runs with as many seeds in a row as a suite has shares play all of it.
  public static let seed: UInt64 = {
    guard let word = variable("COFFER_SEED"), !word.isEmpty else { return 0 }
    guard let seed = UInt64(word) else { preconditionFailure("COFFER_SEED is a number, not '\(word)'") }
    return seed
  }()

  static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
