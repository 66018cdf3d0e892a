// SPDX-License-Identifier: Apache-2.0
//
// All tests begin at once, and those that wait for a process do not count as running: without turns there would be as
// many processes as tests that start one.

import Glibc
public import Testing

/// Lets as many tests start a process of their own as the machine has processors; the others wait.
public struct InTurn: TestTrait, SuiteTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Turns.all.take()
    let result: Result<Void, any Error>
    do { result = .success(try await function()) } catch { result = .failure(error) }
    await Turns.all.giveBack()
    try result.get()
  }
}

extension Trait where Self == InTurn {
  /// See ``InTurn``.
  public static var inTurn: InTurn { InTurn() }
}

private actor Turns {
  static let all = Turns()

  private var free = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
