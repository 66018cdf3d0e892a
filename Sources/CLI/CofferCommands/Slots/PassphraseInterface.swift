// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import Secrets
internal import UserAuthentication

/// A passphrase: asked for last, so that its absence ends the asking.
enum PassphraseInterface: SlotInterface {
  static var method: any SlotMethod.Type { PassphraseSlot.self }
  static func words(_ slot: KeySlot) -> String { "passphrase" }
  static var addCommand: any CofferCommand.Type { SlotAddPassphraseCommand.self }
  static var addUsage: String { "\(SlotNameOptions.usage) [--kdf argon2id|pbkdf2]" }

  static let wrong = Failure(
    .wrongSecret, "wrong_secret", "wrong passphrase: it opens no slot of this coffer",
    hint: "'coffer recover' sets a new one with the recovery phrase")

  static let missing = Failure(
    .missing, "no_such_slot", "no passphrase opens this coffer: it has no slot for one",
    hint: "'coffer recover' sets one with the recovery phrase")

  /// Opens the coffer with a passphrase that was given.
  static func open(_ locked: LockedCoffer, _ passphrase: borrowing Passphrase) throws -> Coffer {
    do { return try locked.unlock(SlotCredential(passphrase)) } catch KeybagError.wrongSecret {
      var failure = wrong
      if endsInBlank(passphrase) { failure.hint = "it ends with a blank, which counts" }
      throw failure
    } catch KeybagError.noSuchSlot {
      throw missing
    }
  }

  /// Whether the last character is one that nobody sees at the end of a file.
  private static func endsInBlank(_ passphrase: borrowing Passphrase) -> Bool {
    passphrase.withBytes { bytes in
      let last = unsafe bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self)
      return last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
    }
  }

  /// Refuses a new passphrase that opens the coffer already: whoever takes it for new is mistaken.
  static func checkIsNew(_ passphrase: borrowing Passphrase, _ coffer: Coffer) throws {
    guard try coffer.opens(passphrase) else { return }
    throw Failure(
      .refused, "same_passphrase", "this passphrase already opens the coffer", hint: "choose another one")
  }

  static func openByPrompt(_ locked: LockedCoffer, _ context: CommandContext) throws -> Coffer? {
    guard hasSlot(locked) else { throw missing }
    let prompt = try context.prompt()
    var problem: String?
    for attempt in 1...CommandContext.promptTries {
      let typed = try prompt.ask(context.request("passphrase", problem: problem))
      do {
        return try locked.unlock(SlotCredential(Passphrase(utf8: typed)))
      } catch KeybagError.wrongSecret {
        problem = CommandContext.triesLeft("wrong passphrase", attempt)
      } catch let error as PassphraseError {
        problem = CommandContext.triesLeft(Failure(error).message, attempt)
      }
    }
    throw wrong
  }
}

struct SlotAddPassphraseCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "passphrase", abstract: "Add a passphrase.")
  static let page = """
    coffer slot add passphrase: add another passphrase

    usage: coffer slot add passphrase \(SlotNameOptions.usage) [--kdf argon2id|pbkdf2]
               \(OpeningOptions.usage)
               \(NewPassphraseOptions.usage)

    Prints the new slot's id.

      \(SlotNameOptions.page)

    example: coffer slot add passphrase --name laptop
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @OptionGroup var label: SlotNameOptions
  @Option(help: "The key derivation for the passphrase.") var kdf: KDFName = .argon2id

  func execute(_ context: CommandContext) throws {
    let name = try label.checked(context)
    let coffer = try context.open(opening, needing: .slot)
    let new = try context.newPassphrase(newPassphrase.given(), policy: coffer.settings().policy)
    try PassphraseInterface.checkIsNew(new, coffer)
    let slot = SlotAnswer(try coffer.addSlot(new, label: name, kdf: kdf.kdf))
    context.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
  }
}
