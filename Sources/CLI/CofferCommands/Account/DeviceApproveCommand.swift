// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Syncing

struct DeviceApproveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve", abstract: "Let a device into the account that asks to join.")
  static let page = """
    coffer device approve: let a device into the account that ran 'coffer remote join'

    usage: coffer device approve [DEVICE] [--fingerprint WORDS] [--words]
                                 \(PassphraseOptions.usage)
                                 \(PhraseOptions.usage)

    Needs the passphrase of the account; with --words its twelve words. Shows twelve other words, the
    fingerprint of the device that asks, and asks whether that device shows the same. Say yes only when you
    have looked: whoever has your card can ask, and only the words tell your device from another one.

      DEVICE         its name, or the beginning of its identifier, if several ask
      --fingerprint  the twelve words that the device shows; compared without a question
      \(AccountOptions.page)

    example: coffer device approve
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @Option(help: "The twelve words that the device shows.") var fingerprint: String?
  @Argument(help: "Its name, or the beginning of its identifier.") var device: String?

  struct Answer: Encodable {
    let approved: String
    let name: String
  }

  func validate() throws {
    if let givenWords, givenWords.count != 12 {
      throw ValidationError("--fingerprint takes twelve words, in one argument")
    }
  }

  func execute(_ context: CommandContext) throws {
    let (open, secret) = try account.open(context)
    let remote = try open.place.reached()
    let (waiting, unreadableCount) = try OpenAccount.watching("syncing", context) { goesOn in
      try open.synchronizer.waitingDevices(at: remote, progress: goesOn)
    }
    let chosen = try choose(among: waiting, unreadableCount)
    try compare(chosen, context)
    let report = try account.watching("approving", context) { goesOn in
      try open.synchronizer.approve(chosen, with: secret, at: remote, progress: goesOn)
    }
    let ending = SyncEnding(report, open.synchronizer)
    if report.outcome != .complete {
      do { try ending.check(context) } catch {
        var failure = Failure(error)
        failure.message = "the device is approved, but the others were not told: \(failure.message)"
        failure.hint = "'coffer sync' tells them"
        throw failure
      }
    }
    let name = open.synchronizer.devices.first { $0.id == chosen.entry.id }?.name ?? chosen.entry.name
    if context.isJSON {
      JSON.print(Answer(approved: Hexadecimal.text(chosen.entry.id.bytes), name: name))
    } else {
      let renamed = name == chosen.entry.name ? "" : ", since there is a '\(chosen.entry.name)' already,"
      context.remark("The device belongs to the account\(renamed) as '\(name)'.")
      context.remark("It gets everything with its next 'coffer sync', or at once if it waits.")
    }
    // Something may still be wrong with the place.
    try ending.check(context)
  }

  private var givenWords: [String]? {
    fingerprint?.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
  }

  // MARK: Which

  private func choose(among waiting: [WaitingDevice], _ unreadableCount: Int) throws -> WaitingDevice {
    var found: [WaitingDevice]
    if let device {
      let named = waiting.filter { $0.entry.name == device }
      found = named.isEmpty ? waiting.filter { $0.entry.id.begins(with: device) } : named
    } else {
      found = waiting
    }
    // Whoever has the card can ask under any name and identifier; the words are those of one device.
    if let given = givenWords, let meant = found.first(where: { $0.words == given }) { found = [meant] }
    if found.count == 1 { return found[0] }
    guard found.isEmpty else {
      guard givenWords == nil else { throw Self.different }
      let list = found.prefix(5).map { "\($0.entry.id.short) '\($0.entry.name)'" }.joined(separator: ", ")
      throw Failure(
        .missing, "several_devices",
        "\(found.count.grouped) devices ask to join: \(list)\(found.count > 5 ? ", ..." : "")",
        hint: "give --fingerprint with the words that your device shows, or the beginning of its identifier")
    }
    throw Self.none(unreadableCount, otherCount: waiting.count)
  }

  private static func none(_ unreadableCount: Int, otherCount: Int) -> Failure {
    if otherCount > 0 {
      return Failure(
        .missing, "no_such_device", "no device of that name asks to join",
        hint: "without a name, 'coffer device approve' takes the one that asks")
    }
    guard unreadableCount == 0 else {
      return Failure(
        .missing, "no_request",
        "\(unreadableCount.counted("device")) asked with another card than the one in force",
        hint: "print that with 'coffer remote card', and run 'coffer remote join' with it on the new device")
    }
    return Failure(
      .missing, "no_request", "no device asks to join the account",
      hint: "run 'coffer remote join' on the new device; a request is void after seven days")
  }

  // MARK: Comparing

  private func compare(_ device: WaitingDevice, _ context: CommandContext) throws {
    if let givenWords {
      guard givenWords == device.words else { throw Self.different }
      return
    }
    let keys = device.entry.level == 1 ? "in a chip" : "in software"
    context.remark(
      "'\(device.entry.name)' (\(device.entry.id.short)) asks to join, since \(LocalTime.shown(Int64(clamping: device.askedAt))); its keys are \(keys). Its twelve words:"
    )
    if !context.isJSON { FingerprintWords.show(device.words) }
    guard context.hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "this asks a question, and there is no terminal to ask on",
        hint: "add --fingerprint with the twelve words that the device shows")
    }
    guard try context.confirm("Does that device show the same twelve words?") else {
      throw Failure(
        .refused, "not_confirmed", "nothing was approved; the device still asks",
        hint: "if it shows other words, somebody else has your card: 'coffer remote card --new'")
    }
  }

  private static let different = Failure(
    .refused, "not_confirmed", "the words differ, so nothing was approved",
    hint: "look at the device again; if it shows other words than these, somebody else has your card"
  )
}
