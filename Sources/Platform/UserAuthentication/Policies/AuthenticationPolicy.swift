// SPDX-License-Identifier: Apache-2.0

/// What proves that the owner of the device is there (AM-04).
///
/// A policy says nothing about when the app locks itself or how keys are kept; those are axes of their
/// own, and none follows from another (AM-20).
public enum AuthenticationPolicy: Sendable, CaseIterable {
  /// A finger, or the passcode (a PIN or passphrase). The way to the passcode is shown.
  case deviceOwner
  /// A finger and nothing else. The passcode is neither offered nor asked for, whatever happens.
  case deviceOwnerWithBiometrics

  /// The words for the way to the passcode; empty where it is hidden.
  public var fallbackTitle: String {
    switch self {
    case .deviceOwner: "use the passphrase"
    case .deviceOwnerWithBiometrics: ""
    }
  }

  /// Whether the passcode is offered and accepted.
  public var showsFallback: Bool { !fallbackTitle.isEmpty }

  /// Whether `factor` is enough. What counts is what was proven, not the policy that it was proven under.
  public func isSatisfied(by factor: AuthenticationFactor) -> Bool {
    switch self {
    case .deviceOwner: true
    case .deviceOwnerWithBiometrics: factor == .biometry
    }
  }
}
