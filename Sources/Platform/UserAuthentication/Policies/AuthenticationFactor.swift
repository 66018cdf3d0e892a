// SPDX-License-Identifier: Apache-2.0

/// What the owner was recognised by.
public enum AuthenticationFactor: Sendable, CaseIterable {
  /// An enrolled finger. On Linux it is compared by a service of the system, which is a weaker proof than
  /// a secure enclave's.
  case biometry
  /// The PIN or passphrase.
  case passcode
}
