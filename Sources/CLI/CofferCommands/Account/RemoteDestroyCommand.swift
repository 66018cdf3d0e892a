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
    let remains: AccountRemains
    do {
      remains = try account.watching("getting what is new", context) { goesOn in
        try open.synchronizer.remains(with: secret, at: remote, progress: goesOn)
      }
    } catch SyncError.notThere {
      throw Failure(
        .missing, "no_account_there", "nothing of the account is at the place",
        hint:
          "check that the right disk is mounted there; if all was deleted, 'coffer remote forget' does the rest"
      )
    }
    let awayCount = try open.synchronizer.capturesElsewhere().count
    guard awayCount == 0 else {
      throw Failure(
        .refused, "captures_elsewhere",
        "\(awayCount.counted("capture is", "captures are")) at the place and not on this device",
        hint: "'coffer capture keep --all' gets them")
    }
    if !yes {
      try context.insist(
        "Delete the account at \(place): \(remains.objectCount.counted("object")), \(ByteCount.text(remains.byteCount))?",
        otherwise: "nothing was deleted")
      try context.insist(
        "This device will be the only place of what it has. Really?", otherwise: "nothing was deleted")
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
      throw failure
    }
    if context.isJSON {
      return JSON.print(Answer(objects: remains.objectCount, byteCount: remains.byteCount))
    }
    context.remark(
      "The account is gone: \(remains.objectCount.counted("object")) deleted. Your messages are on this device alone now."
    )
  }

  private static let rest = "'coffer remote destroy' deletes the rest"
}
