// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Glibc
internal import Keychains
internal import Primitives
internal import Secrets

struct SlotCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "slot", abstract: "The ways to open the coffer.",
    subcommands: [SlotListCommand.self, SlotAddCommand.self, SlotRemoveCommand.self])
  static let page = """
    coffer slot: the ways to open the coffer

    usage: coffer slot list
           coffer slot add passphrase | recovery | tpm
           coffer slot remove ID

    Each slot opens the coffer by itself. The last passphrase or recovery phrase cannot be removed: a TPM
    breaks with its machine.

    example: coffer slot add recovery
    """
}

struct SlotListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Show the slots.")
  static let page = """
    coffer slot list: show the ways to open the coffer

    usage: coffer slot list

    Asks for nothing: the slots are public, their contents are not.

    example: coffer slot list --json
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ session: Session) throws {
    let slots = try LockedCoffer(home: session.home).slots.map(SlotAnswer.init)
    if session.isJSON { return slots.forEach { JSON.print($0) } }
    slots.forEach { Terminal.print("\($0.line)") }
  }
}

struct SlotAddCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a way to open the coffer.",
    subcommands: [
      SlotAddPassphraseCommand.self, SlotAddRecoveryCommand.self, SlotAddTPMCommand.self,
    ])
  static let page = """
    coffer slot add: add a way to open the coffer

    usage: coffer slot add passphrase [--kdf argon2id|pbkdf2]
           coffer slot add recovery [--recovery-phrase-out FILE]
           coffer slot add tpm [--pin-fd N | --pin-file PATH]

    example: coffer slot add passphrase
    """
}

struct SlotAddPassphraseCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "passphrase", abstract: "Add a passphrase.")
  static let page = """
    coffer slot add passphrase: add another passphrase

    usage: coffer slot add passphrase [--kdf argon2id|pbkdf2]
                                      [--passphrase-fd N | --passphrase-file PATH]
                                      [--new-passphrase-fd N | --new-passphrase-file PATH]

    Prints the new slot's id.

    example: coffer slot add passphrase
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @Option(help: "What stretches the passphrase.") var kdf: KDFName = .argon2id

  func execute(_ session: Session) throws {
    let coffer = try session.open(opening, needing: .person)
    let new = try session.newPassphrase(newPassphrase.given(), policy: coffer.settings().policy)
    let slot = SlotAnswer(try coffer.addSlot(new, kdf: kdf.kdf))
    session.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
  }
}

struct SlotAddRecoveryCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "recovery", abstract: "Add a recovery phrase.")
  static let page = """
    coffer slot add recovery: add another recovery phrase

    usage: coffer slot add recovery [--recovery-phrase-out FILE]
                                    [--passphrase-fd N | --passphrase-file PATH]

    Shows twelve new words, as «coffer init» does, and prints the new slot's id. Former phrases keep
    working until their slots are removed.

    example: coffer slot add recovery --recovery-phrase-out words.txt
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Write the recovery phrase to a new file.", completion: .file()) var recoveryPhraseOut:
    String?

  func execute(_ session: Session) throws {
    if recoveryPhraseOut == nil { try session.requireTerminalForWords() }
    let coffer = try session.open(opening, needing: .person)
    let phrase = try PhraseHandover(session).makePhrase(file: recoveryPhraseOut)
    let slot: SlotAnswer
    do {
      slot = SlotAnswer(try coffer.addSlot(phrase))
    } catch {
      // Words that open nothing would only mislead.
      if let recoveryPhraseOut { unsafe unlink(recoveryPhraseOut) }
      throw error
    }
    session.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
  }
}

struct SlotAddTPMCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "tpm", abstract: "Add this machine's TPM.")
  static let page = """
    coffer slot add tpm: open with this machine's TPM and a PIN

    usage: coffer slot add tpm [--pin-fd N | --pin-file PATH]
                               [--passphrase-fd N | --passphrase-file PATH]

    Asks for the passphrase, and twice for a PIN of six characters or more. From then on the PIN opens the
    coffer on this machine alone. The TPM counts wrong PINs and locks itself: the PIN is as strong as that
    lockout. Passphrase and recovery phrase stay as they are. Prints the new slot's id.

    The TPM is the one that COFFER_TCTI names, else device:/dev/tpmrm0.

    example: coffer slot add tpm
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var pin: PINOptions

  func execute(_ session: Session) throws {
    // Before anything is asked: is there a chip?
    guard let chip = session.machine.chip else { throw EnclaveError.unavailable }
    try chip.checkReadiness()
    let coffer = try session.open(passphrase, pin: nil, needing: .person)
    let slot = SlotAnswer(try coffer.addSlot(pin: session.newPIN(pin.given())))
    session.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
  }
}

struct SlotRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a way to open the coffer.")
  static let page = """
    coffer slot remove: remove a way to open the coffer

    usage: coffer slot remove ID [--passphrase-fd N | --passphrase-file PATH]

    The last passphrase or recovery phrase stays. Ends the session. Copies of the file that were made before
    keep opening with what was removed.

    example: coffer slot remove 6f9619ff-8b86-4011-b42d-00c04fc964ff
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The slot's id.") var id: String

  struct Answer: Encodable {
    let removed: String
    let sessionEnded: Bool
  }

  func execute(_ session: Session) throws {
    guard let uuid = UUID(uuidString: id) else {
      throw Failure.usage("«\(id)» is not the id of a slot", hint: "«coffer slot list» shows the ids")
    }
    let coffer = try session.open(opening, needing: .person)
    try coffer.removeSlot(uuid)
    let ending = SessionEnding(coffer)
    if session.isJSON {
      JSON.print(Answer(removed: uuid.uuidString.lowercased(), sessionEnded: ending.wasThere))
    }
    session.note("The slot is removed. Older copies of the file still open with it.")
    try ending.tell(session)
  }
}
