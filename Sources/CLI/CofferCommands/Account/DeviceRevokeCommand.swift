// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Syncing

struct DeviceRevokeCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Take a device out of the account, as when it was lost.")
  static let page = """
    coffer device revoke: take a device out of the account, as when it was lost or sold

    usage: coffer device revoke DEVICE [--since DATE] [--words] [--yes]
                                \(PassphraseOptions.usage)
                                \(PhraseOptions.usage)

    Needs the passphrase of the account; with --words its twelve words. What is new is got first. What the
    device sends afterwards has no effect, and nothing that is sent from now on opens with its keys. What it
    has seen it has seen, and with credentials of the place it can still write there: take these away at the
    place. If it was open when it was lost, it knows the card: 'coffer help remote card' says how to make
    another one.

      --since DATE  what came from it since then has no effect either: messages that it removed come back.
                    2026-11-22, '2026-11-22 04:58' here, or RFC 3339. By the clock of the place; where that
                    has none, as with a folder, by the time when this device got it. With it the place
                    need not answer: the next 'coffer sync' tells the others. A device that is
                    revoked already can be revoked again with it.
      \(AccountOptions.page)
      --yes         do not ask

    example: coffer device revoke laptop
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @Option(help: "What came from it since then has no effect either.") var since: String?
  @Flag(help: "Do not ask.") var yes = false
  @Argument(help: "Its name, or the beginning of its identifier.") var device: String

  struct Answer: Encodable {
    let revoked: String
    let quarantined: Int
  }

  func execute(_ context: CommandContext) throws {
    let since = try since.map(Self.date)
    let (open, secret) = try account.open(context)
    let chosen = try DeviceChoice(open.synchronizer.devices).device(device)
    guard !chosen.isThisDevice else {
      throw Failure(
        .refused, "this_device", "this is the device that you are at",
        hint: "revoke it from another one; 'coffer remote forget' leaves the account")
    }
    guard !chosen.isRevoked || since != nil else {
      throw Failure(
        .refused, "device_revoked", "'\(chosen.name)' is revoked already",
        hint: "--since DATE also cuts off what came from it before")
    }
    if let since {
      // The question counts what the revocation will cut off.
      let news = try open.run("syncing", .sync, context)
      guard !news.isStopped else { throw Failure.interrupted("nothing was revoked") }
      guard [.complete, .unreachable, .noSafeEpoch].contains(news.outcome) else {
        throw Failure(outcome: news.outcome, news.remoteError)
      }
      guard !chosen.isRevoked || open.synchronizer.cutsOffMore(of: chosen.id, since: since) else {
        throw Failure(
          .refused, "device_revoked",
          "'\(chosen.name)' is revoked already, and nothing that came from it since then has an effect",
          hint: open.synchronizer.recentRemovals.first { $0.device == chosen.id }.map {
            "\($0.words): --since \($0.sinceText)"
          })
      }
    }
    if !yes {
      try context.insist(
        "Revoke '\(chosen.name)' (\(chosen.id.short))?\(effect(chosen, since, open)) It cannot come back as it is.",
        otherwise: "nothing was revoked")
    }
    let remote = try open.place.reached()
    let report = try account.watching("revoking", context) { goesOn in
      try open.synchronizer.revoke(chosen.id, since: since, with: secret, at: remote, progress: goesOn)
    }
    let ending = SyncEnding(report, open.synchronizer)
    let cutOff = try open.synchronizer.quarantine().filter { $0.device == chosen.id }
    let count = cutOff.count
    if context.isJSON {
      JSON.print(Answer(revoked: Hexadecimal.text(chosen.id.bytes), quarantined: count))
    } else {
      context.remark(
        "'\(chosen.name)' is revoked: the other devices hear of it "
          + (report.outcome == .complete
            ? "with their next 'coffer sync'." : "when 'coffer sync' has told them on this one."))
      let backCount = cutOff.count { $0.kind == .removal || $0.kind == .captureRemoval }
      if backCount > 0 {
        context.remark(
          "\(backCount.counted("message or capture", "messages and captures")) that it removed \(backCount == 1 ? "is" : "are") here."
        )
      }
      if count > 0 {
        context.remark(
          "\(count.counted("change")) of it \(count == 1 ? "has" : "have") no effect: 'coffer sync quarantine' lists "
            + "\(count == 1 ? "it" : "them").")
        if cutOff.contains(where: { $0.kind.isAddition && open.synchronizer.isOnlyCutOff($0.message) }) {
          context.remark(
            "What only it had is not shown any more: 'coffer sync quarantine take all' brings it back.")
        }
      } else if since == nil {
        context.remark("What it sent before counts; the same with --since DATE cuts that off too.")
        if let removals = open.synchronizer.recentRemovals.first(where: { $0.device == chosen.id }) {
          context.remark("It removed \(removals.count), \(removals.beginning): \(removals.hint).")
        }
      }
      context.remark(
        "If it was open when it was lost, it knows the card: 'coffer remote card --new' makes another one.")
    }
    try ending.check(context)
  }

  private static func date(_ text: String) throws -> Int64 {
    guard let seconds = LocalTime.parse(text) else {
      throw Failure.usage(
        "--since: this is not a date", hint: "write 2026-11-22, '2026-11-22 04:58', or RFC 3339")
    }
    return seconds
  }

  /// What the user should know before the question is answered.
  private func effect(_ device: DeviceView, _ since: Int64?, _ open: OpenAccount) -> String {
    guard let since else { return "" }
    let cutOff = open.synchronizer.cutOff(of: device.id, since: since)
    guard !cutOff.isEmpty else { return " Nothing of it that is here came since then." }
    let parts = [
      (cutOff.removedCount, "that it removed come back"),
      (cutOff.changedCount, "are as before it changed them"),
      (cutOff.addedCount, "that only it added are not shown any more"),
    ].filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }
    return
      " What came from it since then would have no effect. Of your messages and captures, \(parts.joined(separator: "; "))."
  }
}
