// SPDX-License-Identifier: Apache-2.0
//
// Slots of a coffer and slots of its account are changed apart; who changes the first is told of the others.

internal import CofferKit
internal import Secrets
internal import Syncing

struct AccountReminder {
  private let coffer: Coffer
  private let hasAccount: Bool
  private let context: CommandContext

  init(_ coffer: Coffer, _ context: CommandContext) throws {
    self.coffer = coffer
    hasAccount = try coffer.account.exists()
    self.context = context
  }

  /// The passphrase is changed: an account that does not open is a warning.
  /// - Parameter new: the coffer's passphrase now. It may be the one that another device has given the account.
  func passphraseChanged(to new: borrowing Passphrase) {
    guard hasAccount else { return }
    do {
      if try coffer.account.open().noteOwnPassphrase(AccountSecret(new, isOwn: true)) { return }
    } catch {
      let failure = Failure(error)
      Warning(code: failure.code, message: "the account: \(failure.message)", hint: failure.hint ?? "").tell(
        isJSON: context.isJSON)
      return
    }
    context.remark("The account has another one: 'coffer account passphrase' gives it this one.")
  }

  func wordsAdded() {
    guard hasAccount else { return }
    context.remark(
      "They open this coffer alone: 'coffer account slots add words' lets them open the account.")
  }
}
