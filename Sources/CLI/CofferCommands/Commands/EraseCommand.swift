// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import Storage

struct EraseCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "erase", abstract: "Destroy the coffer.")
  static let page = """
    coffer erase: destroy the coffer and everything in it

    usage: coffer erase [--yes] [--force]
                        \(OpeningOptions.usage)

    Says how much there is, and asks twice. Needs the passphrase or PIN, and refuses unless a recovery drill
    has ever succeeded. --force skips both.

      --yes    do not ask
      --force  erase a coffer without a recovery drill, or one that does not open

    example: coffer erase
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  static let counterRemains: ShownLine =
    "The TPM may still have the coffer's counter, which takes up space there and reveals nothing."

  @Flag(help: "Do not ask.") var yes = false
  @Flag(help: "Erase without a recovery drill or a passphrase.") var force = false

  /// What would be lost, as far as a file that may be damaged says it; nil if it says nothing.
  private static func contents(_ locked: LockedCoffer) -> String? {
    guard let messages = try? locked.messageRowCount(), let captures = try? locked.captureRowCount() else {
      return nil
    }
    // Unknown where they are in a Secret Service that does not answer.
    let identities = (try? locked.privateKeyCount()).map { $0.counted("identity", "identities") }
    return "\(messages.counted("message")), \(captures.counted("capture")) and "
      + (identities ?? "the identities")
  }

  /// The same, and whether it has an account; nil if that is not known.
  private static func look(_ context: CommandContext) -> (contents: String?, hasAccount: Bool?) {
    guard let locked = try? context.locked() else { return (nil, nil) }
    return (contents(locked), try? locked.hasAccount())
  }

  /// Whether copies of the folder have the same keychain, as far as the file says it.
  private static func sharesKeychain(_ context: CommandContext) -> Bool {
    (try? context.locked())?.keychainPlace == .secretService
  }

  func execute(_ context: CommandContext) throws {
    guard DatabaseFile.exists(home: context.home) else { throw StorageError.notFound }
    guard yes || context.hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "erasing asks twice, and there is no terminal to ask on",
        hint: "add --yes if you are sure; without --force it needs the passphrase or PIN too")
    }
    let (contents, hasAccount) = Self.look(context)
    if !force { try checkErasable(context, contents) }
    if !yes {
      if hasAccount == true {
        context.remark(
          "What was sent to the place of its account stays there: 'coffer remote destroy' deletes it, and needs "
            + "this coffer.")
      }
      if Self.sharesKeychain(context) {
        context.remark(
          "Its keychain is in the Secret Service, under the coffer's id. Copies of its folder use the same items: they "
            + "do not open any more after this.")
      }
      let what = contents.map { ", with \($0)" } ?? ""
      guard try context.confirm("Destroy the coffer in \(context.home)\(what)?"),
        try context.confirm("Everything in it will be lost for good. Really?")
      else { throw Failure(.refused, "cancelled", "nothing was erased") }
    }
    let remains = try Erasure.erase(home: context.home, machine: context.machine)
    if context.isJSON { JSON.print(["erased": context.home]) }
    context.remark("The coffer is erased.")
    switch hasAccount {
    case true:
      context.remark(
        "The place of its account still has what was sent, sealed. Other devices of the account still list this "
          + "one: 'coffer device revoke' there.")
    case nil:
      context.remark(
        "The coffer could not be read. If it had an account, its place still has what was sent, sealed.")
    default: break
    }
    if remains.agent {
      context.remark("The agent does not answer and may still have the keys: end its process.")
    }
    if remains.counter { context.remark(Self.counterRemains) }
    if remains.isCounterUnknown {
      context.remark(
        "The coffer was damaged, so the TPM may still have its counter, which takes up space there and reveals "
          + "nothing.")
    }
    for path in remains.exports {
      context.remark("A killed export may have left plaintext in '\(path)'.")
    }
    if remains.secretServiceItem {
      context.remark(
        "The Secret Service still has the items 'Coffer keychain'; nothing can decrypt them any more.")
    }
    if remains.isSecretServiceAnothers {
      context.remark(
        "The Secret Service still has the items 'Coffer keychain': a copy of this coffer has changed them since, and "
          + "needs them.")
    }
    if remains.isSecretServiceUnknown {
      context.remark(
        "The coffer was damaged, so the Secret Service may still have its items 'Coffer keychain'; nothing can "
          + "decrypt them any more.")
    }
  }

  /// Opens the coffer, which nobody may erase who cannot, and asks for a recovery drill.
  /// - Parameter contents: is named if it stays.
  private func checkErasable(_ context: CommandContext, _ contents: String?) throws {
    var asking = context
    asking.purpose = "to erase the coffer"
    let coffer = try asking.open(opening, needing: .slot)
    defer { coffer.close() }
    do { try coffer.checkErasable() } catch let error as CofferError {
      var failure = Failure(error)
      if let contents {
        failure.hint = "run 'coffer recovery drill' first; --force destroys \(contents) without it"
      }
      throw failure
    }
  }
}
