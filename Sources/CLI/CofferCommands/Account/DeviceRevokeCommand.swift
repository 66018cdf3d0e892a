// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Secrets
internal import Syncing

struct DeviceRevokeCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Take a device out of the account, as when it was lost.")
  static let page = """
    coffer device revoke: take a device out of the account, as when it was lost or sold

    usage: coffer device revoke DEVICE [--words] [--yes]
                                \(PassphraseOptions.usage)
                                \(PhraseOptions.usage)

    Needs the passphrase of the account; with --words its twelve words. What is new is got first. What the
    device sends afterwards has no effect, and nothing that is sent from now on opens with its keys. What it
    has seen it has seen, and with credentials of the place it can still write there: take these away at the
    place. If its passphrase or the card may be known to somebody, make a new account elsewhere.

      --words  open the account with the twelve words
      --yes    do not ask

    example: coffer device revoke laptop
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @Flag(help: "Open the account with the twelve words.") var words = false
  @Flag(help: "Do not ask.") var yes = false
  @Argument(help: "Its name, or the beginning of its identifier.") var device: String

  private var usesWords: Bool { words || phrase.fd != nil || phrase.file != nil }

  func validate() throws {
    if usesWords, passphrase.fd != nil || passphrase.file != nil {
      throw ValidationError("give a passphrase or the twelve words, not both")
    }
  }

  func execute(_ context: CommandContext) throws {
    let (coffer, secret) = try AccountOpening(passphrase: passphrase, phrase: phrase)
      .open(byWords: usesWords, context)
    context.advise(coffer)
    let account = try OpenAccount(coffer)
    let chosen = try DeviceChoice(account.synchronizer.status().devices).device(device)
    guard !chosen.isThisDevice else {
      throw Failure(
        .refused, "this_device", "this is the device that you are at",
        hint: "revoke it from another one; 'coffer remote forget' leaves the account")
    }
    guard !chosen.isRevoked else {
      throw Failure(.refused, "device_revoked", "'\(chosen.name)' is revoked already")
    }
    if !yes {
      try context.insist(
        "Revoke '\(chosen.name)' (\(chosen.shortID))? It cannot come back as it is.",
        otherwise: "nothing was revoked")
    }
    let remote = try account.place.open()
    let report: SyncReport
    do {
      report = try OpenAccount.watching("revoking", context) { goesOn in
        try account.synchronizer.revoke(chosen.id, with: secret, at: remote, progress: goesOn)
      }
    } catch SyncError.wrongSecret {
      throw AccountOpening.wrong(usesWords)
    }
    let ending = try SyncEnding(report, account.synchronizer)
    if context.isJSON {
      JSON.print(["revoked": Hexadecimal.text(chosen.id.bytes)])
    } else {
      context.remark(
        "'\(chosen.name)' is revoked: the other devices hear of it with their next 'coffer sync'.")
    }
    try ending.check(context)
  }
}
