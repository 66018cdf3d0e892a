// SPDX-License-Identifier: Apache-2.0

internal import Agent
internal import ArgumentParser
internal import CofferKit

/// When a session ends, for the command that begins it and for its agent.
struct LimitOptions: ParsableArguments {
  @Option(name: .customLong("idle-limit"), help: "Lock after so long without use.")
  var idle: String?
  @Option(name: .customLong("absolute-limit"), help: "Lock so long after the passphrase.")
  var absolute: String?

  func validate() throws {
    let bounds = AgentOptions.limitBounds
    for case let (name, text?) in [("idle", idle), ("absolute", absolute)] {
      guard let seconds = Duration.seconds(text), bounds.contains(seconds) else {
        throw ValidationError(
          "--\(name)-limit takes seconds, \(bounds.lowerBound) to \(bounds.upperBound), or a time such as 15m: '\(text)'"
        )
      }
    }
  }

  /// Nil for those that are not given.
  var limits: SessionLimits {
    SessionLimits(
      idleSeconds: idle.flatMap(Duration.seconds), absoluteSeconds: absolute.flatMap(Duration.seconds))
  }
}
