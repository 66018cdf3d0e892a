// SPDX-License-Identifier: Apache-2.0

import OpenPGP
import Testing

/// What a test locks with Argon2 costs microseconds: for those whose topic is something else.
struct LeastCosts: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await Argon2Costs.$current.withValue(.least) { try await function() }
  }
}

extension Trait where Self == LeastCosts {
  /// See ``LeastCosts``.
  static var leastCosts: LeastCosts { LeastCosts() }
}
