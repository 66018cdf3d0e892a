// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// What Argon2id costs where something is locked from now on (RFC 9580, section 3.7.1.4). What is read says its own costs.
package struct Argon2Costs: Sendable {
  let passes: UInt8
  /// The memory is 2^`memoryExponent` KiB.
  let memoryExponent: UInt8

  /// PG-15: 2^19 KiB, three passes.
  package static let full = Argon2Costs(passes: 3, memoryExponent: 19)
  /// 64 KiB, one pass: microseconds, for tests that are about something else. The product never sets it.
  package static let least = Argon2Costs(passes: 1, memoryExponent: 6)

  /// Those of the task that runs.
  @TaskLocal package static var current = full
}

extension StringToKey {
  /// Argon2id with a new salt, four lanes and the costs of this task.
  static func newArgon2() -> StringToKey {
    let costs = Argon2Costs.current
    return .argon2(
      salt: SystemRandom.publicBytes(count: argon2SaltByteCount), passes: costs.passes, lanes: 4,
      memoryExponent: costs.memoryExponent)
  }
}
