// SPDX-License-Identifier: Apache-2.0
//
// A restore that stores nothing: everything at the place is got, opened with the words or the passphrase, and compared
// with what is here.

internal import CofferKit
internal import Couriers
internal import Histories
internal import Syncing

struct RemoteDrill {
  let passphrase: PassphraseOptions
  let phrase: PhraseOptions

  struct Answer: Encodable {
    let drill = "passed"
    let messages: Int
    let captures: Int
  }

  func execute(_ context: CommandContext) throws {
    let usesWords = passphrase.fd == nil && passphrase.file == nil
    let (coffer, secret) = try AccountOpening(passphrase: passphrase, phrase: phrase)
      .open(byWords: usesWords, context)
    context.advise(coffer)
    let account = try OpenAccount(coffer)
    guard try account.synchronizer.countWaiting() == 0 else {
      throw Failure(
        .refused, "changes_wait", "there are changes here that were not sent, so a restore would lack them",
        hint: "run 'coffer sync' first")
    }
    let remote = try account.place.reached()
    let address = try account.synchronizer.address()
    let found: AccountDrill
    do {
      found = try OpenAccount.watching("trying a restore", context) { goesOn in
        try coffer.account.drill(
          at: remote, address, with: secret, enclave: context.machine.enclaveForNewKeys(), progress: goesOn)
      }
    } catch {
      guard !Interruption.isRequested else { throw Failure.interrupted("nothing was changed") }
      if case SyncError.wrongSecret = error { throw AccountOpening.wrong(usesWords) }
      throw error
    }
    try compare(found, account.synchronizer.summary())
    if usesWords { try coffer.noteRecoveryDrill() }
    let onlyHere = try account.synchronizer.status().onlyHereCount
    guard onlyHere == 0 else {
      throw Failure(
        .refused, "stays_here",
        "a restore would bring \(found.messageCount.counted("message")), and not \(onlyHere.counted("version")) that "
          + "\(onlyHere == 1 ? "is" : "are") damaged on this device",
        hint: "'coffer doctor' names what is damaged")
    }
    if context.isJSON {
      return JSON.print(Answer(messages: found.messageCount, captures: found.captureCount))
    }
    let captures = found.captureCount == 0 ? "" : " and \(found.captureCount.counted("capture"))"
    context.remark("A restore would bring all \(found.messageCount.counted("message"))\(captures).")
  }

  private func compare(
    _ found: AccountDrill, _ here: (digest: StateDigest, messageCount: Int, captureCount: Int)
  ) throws {
    guard found.missingCount == 0 else {
      throw Failure(
        .corrupt, "remote_incomplete",
        "a restore would lack \(found.missingCount.grouped) of \((found.messageCount + found.captureCount).grouped) messages and captures",
        hint: "'coffer remote verify --read 100' puts back what this device has")
    }
    guard found.digest == here.digest else {
      throw Failure(
        .corrupt, "digest_differs",
        "a restore would bring \(found.messageCount.counted("message")) and another state than here, where there are "
          + "\(here.messageCount)",
        hint: "another device may have sent something: 'coffer sync', then try again")
    }
  }
}
