// SPDX-License-Identifier: Apache-2.0
//
// The audit log of signatures that git has asked for.

internal import Keychains

extension Coffer {
  /// Adds an entry to the audit log for a signature that git has asked for.
  /// - Parameter explainingVersion6: whether the owner was told now what a signature of version 6 means to others.
  public func noteGitSignature(explainingVersion6: Bool = false) {
    audit(explainingVersion6 ? .gitSignedExplained : .gitSigned)
  }

  /// Whether the owner was told already, as far as the audit log reaches back.
  public var hasExplainedVersion6: Bool {
    (try? auditLog())?.contains { $0.event == .gitSignedExplained } ?? false
  }
}
