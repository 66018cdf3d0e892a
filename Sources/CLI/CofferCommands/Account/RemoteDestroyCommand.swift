// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Remotes
internal import Syncing

struct RemoteDestroyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "destroy", abstract: "Delete the account and everything of it at the place.")
  static let page = """
    coffer remote destroy: delete the account, with everything that it has at the place

    usage: coffer remote destroy [--words] [--yes] \(PlaceOptions.usage)
                                 \(PassphraseOptions.usage)
                                 \(PhraseOptions.usage)

    Only from the last device of the account: revoke the others first. Needs the passphrase of the account;
    with --words its twelve words. Says how much there is, and asks twice. Your messages stay on this device.
    A service that keeps earlier versions, and backups of the place, may have it still, sealed.

      \(AccountOptions.page)
      --yes    do not ask
      --url-file, --url-fd
               the same place with credentials that may delete; those of daily use should not

    example: coffer remote destroy
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var place: PlaceOptions
  @Flag(help: "Do not ask.") var yes = false

  struct Answer: Encodable {
    let objects: Int
    let byteCount: Int
  }

  func execute(_ context: CommandContext) throws {
    let (open, secret) = try account.open(context)
    let place = try place.samePlace(as: open.place, context)
    let remote = try place.reached()
    var remains = try found(open.synchronizer, secret, remote, context)
    if !yes {
      let cutOff = try open.synchronizer.status().quarantinedCount
      let loss =
        cutOff == 0 ? "" : " \(cutOff.counted("change")) that a revocation cut off would be lost too."
      try context.insist(
        "Delete the account at \(place): \(remains.objectCount.counted("object")), \(ByteCount.text(remains.byteCount))?\(loss)",
        otherwise: "nothing was deleted")
      try context.insist(
        "This device will be the only place of what it has. Really?", otherwise: "nothing was deleted")
      // The questions may have stood for long.
      remains = try found(open.coffer.account.open(), secret, remote, context)
    }
    do {
      try OpenAccount.showing("deleting", context) {
        try open.coffer.account.destroy(remains, at: remote) {
          OpenAccount.goesOn(bytes: $0, of: remains.byteCount)
        }
      }
    } catch {
      if Interruption.isRequested { throw Failure.interrupted(Self.rest) }
      var failure = Failure(error)
      failure.message += "; \(Self.rest)"
      if case SyncError.remote(.refused(.permission)) = error {
        failure.hint = "give credentials that may delete with --url-file"
      }
      throw failure
    }
    open.coffer.noteAccountChange(.accountDestroyed)
    if context.isJSON {
      return JSON.print(Answer(objects: remains.objectCount, byteCount: remains.byteCount))
    }
    context.remark(
      "The account is gone: \(remains.objectCount.counted("object")) deleted. Your messages are on this device alone now."
    )
  }

  /// All that is at the place, if it may be deleted.
  private func found(
    _ synchronizer: Synchronizer, _ secret: AccountSecret, _ remote: any Remote, _ context: CommandContext
  ) throws -> AccountRemains {
    do {
      return try account.watching("getting what is new", context) { goesOn in
        try synchronizer.remains(with: secret, at: remote, progress: goesOn)
      }
    } catch SyncError.notThere {
      throw Failure(
        .missing, "no_account_there", "nothing of the account is at the place",
        hint: "check that it is the right place; if all was deleted, 'coffer remote forget' does the rest")
    }
  }

  private static let rest = "what is not deleted is there, and 'coffer remote destroy' goes on"
}
