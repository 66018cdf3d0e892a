// SPDX-License-Identifier: Apache-2.0
//
// Messages that fail to open, as the person hears of them: in the audit log, from whatever command it
// happens in, and from every command after it, until an examination has named them.

public import Vaults

extension Coffer {
  /// Calls `listener` when more messages have failed to open than warn, or than lock the vault, after the audit
  /// log has a line of it. The second argument is how many. It takes the place of the listener before it.
  public func listenForFailures(_ listener: @escaping @Sendable (Vault.Alarm, Int) -> Void) {
    vault.listenForAlarms { [weak self] alarm, count in
      switch alarm {
      case .none: break
      case .warning: self?.note(.failuresWarned, count: count)
      case .locked: self?.note(.vaultLocked, count: count)
      }
      listener(alarm, count)
    }
  }
}
