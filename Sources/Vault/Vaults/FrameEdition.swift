// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// What the frame of an edited message says besides (Specs/vault.md, "Frame").
struct FrameEdition: Equatable, Sendable {
  /// The first version.
  let message: MessageID
  /// From 2.
  let number: Int
  /// The versions that its author had seen.
  let replaced: [MessageID]

  static let replacedLimit = 256

  var byteCount: Int { MessageID.byteCount * (1 + replaced.count) + 6 }
}
