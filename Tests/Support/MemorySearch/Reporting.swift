// SPDX-License-Identifier: Apache-2.0
//
// How a test says what failed in a process of its own. Of an issue there, its test is told the comment and the place
// alone, and an error that leaves the process ends it without a word.

public import Testing

/// Makes an issue of an error.
///
/// ```swift
/// await #expect(processExitsWith: .success) { recordingErrors { try search() } }
/// ```
public func recordingErrors(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  do {
    try body()
  } catch is ExpectationFailedError {
    // `#require` has recorded it.
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
}

extension ProcessMemory {
  /// Makes an issue of each place where half of the needle stands.
  ///
  /// - Parameter name: what it is.
  public static func expectGone(
    _ needle: Needle, _ name: String = "the secret", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for place in try places(of: needle).prefix(shownPlaceCount) {
      Issue.record("\(name) is in memory: \(place)", sourceLocation: sourceLocation)
    }
  }

  /// More say nothing new.
  private static let shownPlaceCount = 10
}
