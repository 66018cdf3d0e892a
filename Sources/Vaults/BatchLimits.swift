// SPDX-License-Identifier: Apache-2.0
//
// How much of an import or a rotation is one transaction.

/// Where a batch ends: at whichever bound is reached first.
struct BatchLimits: Sendable {
  /// A sync costs as much as sealing a hundred messages; of thousands it costs next to nothing.
  var messageCount = 4_000
  /// Bounds the write-ahead log, and what an interruption undoes.
  var byteCount = 8 << 20

  static let standard = BatchLimits()
}
