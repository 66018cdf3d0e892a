// SPDX-License-Identifier: Apache-2.0

/// What a person should know while a finger is waited for.
public enum FingerprintProgress: Equatable, Sendable {
  /// The reader waits for a finger.
  case waiting
  /// The finger could not be read and was not compared; it costs no try.
  case scanAgain(ScanProblem)
  /// The finger was read, and was not the right one.
  case notRecognised(triesLeft: Int)

  /// What was wrong with a scan.
  public enum ScanProblem: Sendable, CaseIterable {
    case unreadable
    case swipeTooShort
    case notCentred
    case removeAndRetry
  }
}
