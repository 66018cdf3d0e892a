// SPDX-License-Identifier: Apache-2.0
//
// The warning about messages that failed to open.

/// The warning that many messages failed to open.
struct FailureWarning {
  private let count: Int
  private let isLocked: Bool

  /// - Parameters:
  ///   - count: how many messages.
  ///   - isLocked: whether the vault has locked itself over them just now.
  init(_ count: Int, isLocked: Bool = false) {
    self.count = count
    self.isLocked = isLocked
  }

  private var message: String {
    let found = "data corruption detected; restore from backup: \(count.counted("message")) did not open"
    return isLocked ? found + ", and the vault has locked itself" : found
  }

  private var hint: String {
    isLocked
      ? "authenticate with 'coffer unlock'; then 'coffer doctor --deep' names the messages"
      : "'coffer doctor --deep' names the messages, and ends this warning"
  }

  func tell(isJSON: Bool) {
    let code = isLocked ? "vault_locked" : "messages_unreadable"
    Warning(code: code, message: message, hint: hint, count: count).tell(isJSON: isJSON)
  }
}
