// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Couriers
internal import Histories
internal import Keychains
internal import Primitives
internal import Remotes
internal import Secrets
internal import Syncing

struct RemoteAddCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Make an account at a place, and send everything there.")
  static let page = """
    coffer remote add: make an account at a place, and send all messages there, sealed

    usage: coffer remote add \(NewPlaceOptions.usage)
                             [--name NAME] [--another] \(KeyPlaceOptions.usage)
                             \(PassphraseOptions.usage)
                             \(PhraseOptions.usage)

    The account opens with this coffer's passphrase and with its twelve words, so both are asked for. A
    restore needs one of them and the card that 'coffer remote card' prints. A passphrase that you change
    later is this coffer's alone.

      folder:///PATH  a folder that is there: on a disk, on a stick, or one that a synchroniser carries
      --url-file, --url-fd
                      the URL of any place; one of a service has a secret, and never is an argument:
                      s3://KEY:SECRET@HOST/BUCKET/PREFIX
                      postgresql://USER:PASSWORD@HOST/DATABASE
                      'coffer remote policy' prints what its administrator sets up
      --name          what this device is called in lists (default: the host's name)
      --another       although there is an account at the place already
      --attestation   where this device's keys are made (default: the TPM if one answers; software only if
                      this coffer's keys are in software too)

    example: coffer remote add folder:///media/stick/coffer
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var phrase: PhraseOptions
  @OptionGroup var place: NewPlaceOptions
  @OptionGroup var keyPlace: KeyPlaceOptions
  @Option(help: "What this device is called in lists.") var name: String?
  @Flag(help: "Although there is an account at the place already.") var another = false

  struct Answer: Encodable {
    let place: String
    let account: String
    let device: String
    let messages: Int
    let captures: Int
    /// Where this device's keys are.
    let attestation: String?
  }

  func execute(_ context: CommandContext) throws {
    let deviceName = try DeviceName.checked(name)
    let (place, remote) = try place.open(context)
    let locked = try context.locked()
    if !phrase.isGiven, context.hasTerminal {
      context.remark(
        "This asks for the passphrase and the twelve words of this coffer: both will open the account.")
    }
    var opened: Coffer?
    let passphrase = try context.passphrase(
      passphrase, "passphrase of this coffer", wrong: PassphraseInterface.wrong
    ) { typed in
      do { opened = try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret {
        return false
      } catch KeybagError.noSuchSlot { throw PassphraseInterface.missing }
      return true
    }
    guard let coffer = opened else { throw PassphraseInterface.wrong }
    context.advise(coffer)
    if try coffer.account.exists() { throw SyncError.hasAccount }
    let enclave = try coffer.enclaveForNewKeys(keyPlace.kind)
    let words = try context.words(phrase, "recovery phrase of this coffer", wrong: Self.wrongWords) {
      try coffer.opens($0)
    }
    Interruption.catchOnce()
    let synchronizer = try coffer.account.make(
      at: remote, place, passphrase: passphrase, words: words,
      costs: CommandRun.current.environment.accountCosts,
      enclave: enclave, name: deviceName, isAnother: another)
    coffer.noteAccountChange(.accountMade)
    try send(OpenAccount(coffer, synchronizer), deviceName, context)
  }

  static let wrongWords = Failure(
    .wrongSecret, "wrong_secret",
    "the passphrase is right, but these words do not open this coffer",
    hint: "'coffer recovery drill' tries the words alone; 'coffer slot add recovery' makes new ones")

  /// The first run.
  private func send(_ account: OpenAccount, _ deviceName: String, _ context: CommandContext) throws {
    let report: SyncReport
    do {
      report = try account.run("sending", .sync, context)
      try SyncEnding(report, account.synchronizer).check(context)
    } catch {
      var failure = Failure(error)
      failure.message += "; the account is made"
      failure.hint = "'coffer sync' goes on"
      throw failure
    }
    let (count, captureCount) = account.synchronizer.shownCounts
    if context.isJSON {
      return JSON.print(
        Answer(
          place: "\(account.place)", account: account.synchronizer.accountName, device: deviceName,
          messages: count, captures: captureCount, attestation: try account.coffer.account.enclaveKind()?.name
        ))
    }
    let captures = captureCount == 0 ? "" : " and \(captureCount.counted("capture"))"
    context.remark(
      "At \(account.place) now, sealed: \(count.counted("message"))\(captures), of the device '\(deviceName)'."
    )
    if let kind = try account.coffer.account.enclaveKind() { context.remark(kind.accountRemark) }
    context.remark(
      "'coffer sync' keeps it equal. Identities and contacts are not sent: 'coffer backup'.")
    context.remark(
      "A restore needs your passphrase or words, and a card: 'coffer remote card' prints it. Do that now.")
  }
}
