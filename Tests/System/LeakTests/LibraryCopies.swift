// SPDX-License-Identifier: Apache-2.0
//
// Copies that a library keeps where this project cannot reach, each with the reason and with what was done
// about it. Every entry stands in SECURITY.md, "Known behaviour of what we build on", too.

/// A copy that is not ours.
struct LibraryCopy: Sendable {
  let operation: String
  let secret: String
  /// The beginning of the name of a region or file.
  let place: String
  let reason: String

  func covers(_ copy: Copy, of operation: String) -> Bool {
    self.operation == operation && secret == copy.secret && copy.place.hasPrefix(place)
  }

  static let known: [LibraryCopy] = []
}
