// SPDX-License-Identifier: Apache-2.0

/// How protected data stand.
public enum ProtectedState: Equatable, Sendable {
  case locked
  case unlocked
  /// Nothing opens until the framework is recovered or explicitly reset (PD-22).
  case frameworkRecovery(FrameworkFault)
  /// Nothing opens until the process ends (PD-23).
  case restartRequired
}
