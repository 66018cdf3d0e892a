// SPDX-License-Identifier: Apache-2.0
//
// How much of an import or a rotation is one transaction.

/// Where a batch ends: at whichever bound is reached first.
package struct BatchLimits: Sendable {
  /// A sync costs as much as sealing a hundred messages; of thousands it costs next to nothing.
  package var messageCount: Int
  /// Bounds the write-ahead log, and what an interruption undoes.
  package var byteCount = 8 << 20

  package static let standard = BatchLimits()

  package init(messageCount: Int = 4_000) { self.messageCount = messageCount }
}
