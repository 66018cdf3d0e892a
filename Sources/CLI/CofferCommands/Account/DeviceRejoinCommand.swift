// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Enclaves
internal import Histories
internal import Primitives
internal import Syncing

struct DeviceRejoinCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "rejoin", abstract: "Go on as a new device, after this one was copied or revoked.")
  static let page = """
    coffer device rejoin: go on as a new device of the account, after this one was copied or revoked

    usage: coffer device rejoin [--name NAME] [--branch N] [--words] [--yes]
                                \(KeyPlaceOptions.usage)
                                \(PassphraseOptions.usage)
                                \(PhraseOptions.usage)

    For a machine that was copied, or put back from an image, and for one that was revoked by mistake: it
    gets a new identifier and new keys, and its old identifier is revoked. Nothing of it is lost: what counts
    stays, and what waits here, or does not count any more, is sent again in its new name.

      --name      what this device is called from now on (default: as before)
      --branch N  this continuation of the account is right, if it has several ('coffer account settle')
      \(AccountOptions.page)
      --yes       do not ask
      --attestation
                  where the new keys are made (default: the TPM if one answers; software only if those of
                  before are in software too)

    example: coffer device rejoin
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var keyPlace: KeyPlaceOptions
  @Option(help: "What this device is called from now on.") var name: String?
  @Option(help: "The number of the continuation of the account that is right.") var branch: Int?
  @Flag(help: "Do not ask.") var yes = false

  struct Answer: Encodable {
    let former: String
    let device: String
    let sent: Int
    /// Where its keys are.
    let attestation: String
  }

  func execute(_ context: CommandContext) throws {
    let name = try name.map { try DeviceName.checked($0) }
    let (open, secret) = try account.open(context)
    let former = open.synchronizer.device
    let enclave = try open.coffer.enclaveForAccountKeys(keyPlace.kind)
    if !yes {
      try context.insist(
        "\(try Self.cutOff(open.synchronizer))Leave this device's identifier (\(former.short)) and go on under a new one?",
        otherwise: "this device goes on as it is")
    }
    let remote = try open.place.reached()
    var hasChosen = false
    let report = try account.watching("joining again", context) { goesOn in
      try open.synchronizer.rejoin(
        with: secret, enclave: enclave, name: name, at: remote,
        choice: { fork in
          let number = try OwnerForkWords.choose(fork, branch, context).number
          hasChosen = true
          return fork.branches[number - 1].id
        }, progress: goesOn)
    }
    let device = open.synchronizer.device
    if context.isJSON {
      JSON.print(
        Answer(
          former: Hexadecimal.text(former.bytes), device: Hexadecimal.text(device.bytes),
          sent: report.sentCount, attestation: enclave.kind.name))
    } else {
      let sent = report.sentCount > 0 ? " \(report.sentCount.counted("change")) sent again." : ""
      context.remark("This device goes on as \(device.short).\(sent)")
      context.remark(enclave.kind.accountRemark)
      // What is at the place alone cannot be said again.
      let lost = try open.synchronizer.quarantine().filter {
        $0.device == former && $0.kind == .capture && open.synchronizer.isOnlyCutOff($0.message)
      }
      let lostCount = Set(lost.map(\.message)).count
      if lostCount > 0 {
        context.remark(
          "\(lostCount.counted("capture is", "captures are")) at the place alone and cut off: 'coffer sync quarantine' lists them, and 'take ID' makes one this device's."
        )
      }
      if hasChosen { context.remark("Make the same choice on the other devices: 'coffer account settle'.") }
    }
    try SyncEnding(report, open.synchronizer).check(context)
  }

  /// What a revocation cut off of this device takes effect again.
  private static func cutOff(_ synchronizer: Synchronizer) throws -> String {
    let changes = try synchronizer.quarantine().filter { $0.device == synchronizer.device }
    guard !changes.isEmpty else { return "" }
    let removals = changes.count { $0.kind == .removal || $0.kind == .captureRemoval }
    let among = removals > 0 ? ", \(removals.counted("removal")) among them," : ""
    return
      "A revocation cut off \(changes.count.counted("change")) of this device\(among) and \(changes.count == 1 ? "it takes" : "they take") effect again. "
  }
}
