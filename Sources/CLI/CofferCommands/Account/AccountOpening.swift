// SPDX-License-Identifier: Apache-2.0
//
// A coffer and its account, opened with one and the same passphrase or phrase.

internal import CofferKit
internal import Keychains
internal import Secrets
internal import Syncing

struct AccountOpening {
  let passphrase: PassphraseOptions
  let phrase: PhraseOptions

  func open(byWords: Bool, _ context: CommandContext) throws -> (Coffer, AccountSecret) {
    try byWords ? openByWords(context) : openByPassphrase(context)
  }

  /// What opens the coffer does not open the account.
  static func wrong(_ usesWords: Bool) -> Failure {
    Failure(
      .wrongSecret, "wrong_secret",
      "\(usesWords ? "these words open" : "this passphrase opens") this coffer, but not the account",
      hint: "the account opens with the passphrase and the words of the coffer in which it was made; "
        + (usesWords ? "--passphrase-file tries its passphrase" : "without --passphrase it tries the words"))
  }

  private func openByWords(_ context: CommandContext) throws -> (Coffer, AccountSecret) {
    let locked = try context.locked()
    var coffer: Coffer?
    let wrong = Failure(
      .wrongSecret, "wrong_secret", "wrong recovery phrase: the words are sound, but not of this coffer")
    let words = try context.words(phrase, "recovery phrase", wrong: wrong) { typed in
      do { coffer = try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret { return false }
      return true
    }
    guard let coffer else { throw wrong }
    return (coffer, AccountSecret(words))
  }

  private func openByPassphrase(_ context: CommandContext) throws -> (Coffer, AccountSecret) {
    let locked = try context.locked()
    var coffer: Coffer?
    let typed = try context.passphrase(passphrase, "passphrase", wrong: PassphraseInterface.wrong) { typed in
      do { coffer = try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret { return false }
      return true
    }
    guard let coffer else { throw PassphraseInterface.wrong }
    return (coffer, AccountSecret(typed))
  }
}
