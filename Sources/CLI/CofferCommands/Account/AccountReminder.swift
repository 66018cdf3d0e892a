// SPDX-License-Identifier: Apache-2.0
//
// Slots of a coffer and slots of its account are changed apart; who changes the first is told of the others.

internal import CofferKit
internal import Syncing

struct AccountReminder {
  private let hasAccount: Bool
  private let context: CommandContext

  init(_ coffer: Coffer, _ context: CommandContext) throws {
    hasAccount = try coffer.account.exists()
    self.context = context
  }

  func passphraseChanged() {
    guard hasAccount else { return }
    context.remark("The account still has the former one: 'coffer account passphrase' changes it there.")
  }

  func wordsAdded() {
    guard hasAccount else { return }
    context.remark(
      "They open this coffer alone: 'coffer account slots add words' lets them open the account.")
  }
}
