// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Primitives
internal import Remotes
internal import Syncing

struct RemoteJoinCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Ask another device to let this one into its account.")
  static let page = """
    coffer remote join: ask another device to let this one into its account

    usage: coffer remote join \(CardOptions.usage) [--name NAME] [--no-wait]
                              \(KeyPlaceOptions.usage)
                              \(OpeningOptions.usage)

    Asks for the card that 'coffer remote card' printed, and shows twelve words. On a device that has the
    account, 'coffer device approve' shows the same twelve; whoever compares them there lets this one in.
    Then both devices have the messages and captures of both. The passphrase of the account does not come
    here; 'coffer remote restore' needs that, and no other device.

      --card-file, --card-fd  where the address of the account is
      --name                  what this device is called in lists (default: the host's name)
      --no-wait               end at once; 'coffer sync' looks whether it was approved
      --attestation           where this device's keys are made (default: the TPM if one answers; software
                              only if this coffer's keys are in software too)

    Control-C ends the waiting, and 'coffer sync' goes on. A request is void after seven days: run this
    again. With the same card, the words stay the same. With --json it does not wait.

    example: coffer remote join
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var card: CardOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var keyPlace: KeyPlaceOptions
  @Option(help: "What this device is called in lists.") var name: String?
  @Flag(help: "End at once.") var noWait = false

  struct Answer: Encodable {
    let device: String
    /// Twelve words, which the approving device shows too.
    let fingerprint: String
    /// Where its keys are.
    let attestation: String?
  }

  func execute(_ context: CommandContext) throws {
    let deviceName = try DeviceName.checked(name)
    let coffer = try context.open(opening)
    if try coffer.account.exists(), try !coffer.account.open().mayAsk { throw SyncError.hasAccount }
    let address = try card.address(context)
    let remote = try address.place.reached()
    let synchronizer = try coffer.account.askToJoin(
      at: remote, address, enclave: coffer.enclaveForNewKeys(keyPlace.kind), name: deviceName)
    let kind = try coffer.account.enclaveKind()
    let words = synchronizer.enrolmentWords
    if context.isJSON {
      return JSON.print(
        Answer(
          device: Hexadecimal.text(synchronizer.device.bytes), fingerprint: words.joined(separator: " "),
          attestation: kind?.name))
    }
    context.remark(
      "This device, \(synchronizer.device.short), asks to join. Twelve words to compare, which open nothing:")
    FingerprintWords.show(words)
    if let kind { context.remark(kind.accountRemark) }
    context.remark(
      "On a device of the account, run 'coffer device approve', and compare them there.")
    guard !noWait else { return context.remark("When it is approved, 'coffer sync' here gets everything.") }
    // Before it says so: a Control-C right after that would end it without a word.
    Interruption.catchOnce()
    context.remark("Waiting; Control-C ends that, and 'coffer sync' goes on.")
    let account = try OpenAccount(coffer, synchronizer)
    try tell(account, try wait(account, remote, context), context)
  }

  /// Looks every few seconds whether the device was approved, and then takes everything.
  private func wait(
    _ account: OpenAccount, _ remote: any Remote, _ context: CommandContext
  ) throws -> SyncReport {
    while true {
      let report = try OpenAccount.watching("joining", context) { goesOn in
        try account.synchronizer.run(.sync, at: remote, progress: goesOn)
      }
      guard account.synchronizer.awaitsApproval else { return report }
      if !Interruption.isRequested {
        // A place that does not answer now may answer later.
        guard [.notMember, .unreachable].contains(report.outcome), report.alarms.isEmpty else {
          return report
        }
        Interruption.wait(milliseconds: Self.pauseMilliseconds)
      }
      guard !Interruption.isRequested else {
        throw Failure.interrupted(
          "this device asked to join", hint: "'coffer sync' looks whether it was approved")
      }
    }
  }

  private static let pauseMilliseconds: Int32 = 3_000

  private func tell(_ account: OpenAccount, _ report: SyncReport, _ context: CommandContext) throws {
    let ending = SyncEnding(report, account.synchronizer)
    if account.synchronizer.isMember {
      account.coffer.noteAccountChange(.accountJoined)
      context.remark("This device belongs to the account as '\(account.deviceName)'.")
    }
    if !ending.isQuiet { context.remark("\(ending.counts)") }
    try ending.check(context)
  }
}

/// The twelve words of a device that asks to join, in rows of four, so that two screens can be compared.
enum FingerprintWords {
  static func show(_ words: [String]) {
    for start in stride(from: 0, to: words.count, by: 4) {
      let row = words[start..<min(start + 4, words.count)]
      Terminal.print("  \(row.dropLast().map { $0.padded(to: 10) }.joined())\(row.last ?? "")")
    }
  }
}
