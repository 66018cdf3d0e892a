// SPDX-License-Identifier: Apache-2.0
//
// Opening with the machine's chip: asks for the PIN if it can be used. If not, says why and asks for the passphrase
// instead.

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Keychains
internal import Secrets
internal import UserAuthentication

/// A key in this machine's chip, and a PIN.
enum TPMInterface: SlotInterface {
  static var method: any SlotMethod.Type { TPMSlot.self }
  static func words(_ slot: KeySlot) -> String { "PIN, this machine" }
  static var addCommand: any CofferCommand.Type { SlotAddTPMCommand.self }
  static var addUsage: String { "\(SlotNameOptions.usage) \(PINOptions.usage)" }

  static func open(
    _ locked: LockedCoffer, pin: SharedSecretBytes, _ context: CommandContext
  ) throws -> Coffer? {
    guard hasSlot(locked) else { return nil }
    do { return try locked.unlock(locked.machine.chipSlot(), pin: pin) } catch KeybagError.enclave(
      .wrongPasscode)
    { throw wrong(locked.machine) }
  }

  /// The failure of a wrong PIN, which says how many tries are left.
  private static func wrong(_ machine: Machine) -> Failure {
    var failure = Failure(KeybagError.enclave(.wrongPasscode))
    switch machine.pinTriesLeft {
    case nil: break
    case 0: failure.message = "wrong PIN; the TPM has locked itself"
    case let left?:
      failure.message = "wrong PIN; \(left.counted("try", "tries")) left until the TPM locks itself"
    }
    return failure
  }

  static func obstacle(_ locked: LockedCoffer) -> (any Error)? {
    do { return locked.obstacle(try locked.machine.chipSlot()) } catch { return error }
  }

  /// - Throws: ``Failure`` after as many wrong PINs as there are tries.
  static func openByPrompt(_ locked: LockedCoffer, _ context: CommandContext) throws -> Coffer? {
    guard hasSlot(locked) else { return nil }
    if let obstacle = obstacle(locked) {
      context.remark("\(SlotInterfaces.sentence(obstacle)): use the passphrase")
      return nil
    }
    let chip = try locked.machine.chipSlot()
    let prompt = try context.prompt()
    var problem: String?
    for _ in 1...CommandContext.promptTries {
      let request = context.request("PIN (nothing: use the passphrase)", problem: problem)
      let typed = try prompt.ask(request)
      guard typed.count > 0 else { return nil }
      do {
        let secret = try Passphrase(utf8: typed)
        if let coffer = try opened(locked, byPassphrase: secret) { return coffer }
        guard secret.byteCount <= PINPolicy.longest else {
          problem = Failure(pin: .tooLong).message
          continue
        }
        return try locked.unlock(chip, pin: SharedSecretBytes(secret))
      } catch KeybagError.enclave(.wrongPasscode) {
        problem = wrong(locked.machine).message
      } catch KeybagError.enclave(let error) where error != .corrupt {
        context.remark("\(error.sentence): use the passphrase")
        return nil
      } catch let error as PassphraseError {
        problem = Failure(error).message
      }
    }
    throw wrong(locked.machine)
  }

  /// Opens the coffer with a passphrase that was typed out of habit, which costs no try of the chip; nil if it does not
  /// open it.
  private static func opened(
    _ locked: LockedCoffer, byPassphrase typed: borrowing Passphrase
  ) throws -> Coffer? {
    guard typed.byteCount >= PassphrasePolicy.shortest, PassphraseInterface.hasSlot(locked) else {
      return nil
    }
    do { return try locked.unlock(SlotCredential(typed)) } catch KeybagError.wrongSecret {
      return nil
    } catch KeybagError.derivation {
      return nil
    }
  }
}

struct SlotAddTPMCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "tpm", abstract: "Add this machine's TPM.")
  static let page = """
    coffer slot add tpm: open with this machine's TPM and a PIN

    usage: coffer slot add tpm \(SlotNameOptions.usage) \(PINOptions.usage)
                               \(PassphraseOptions.usage)

    Asks for the passphrase, and twice for a PIN of six characters or more. From then on the PIN opens the
    coffer on this machine, and only there. The TPM counts wrong PINs and locks itself: the PIN is as strong
    as that lockout. The passphrase and the recovery phrase still work. A TPM has one slot: for another PIN
    remove that first. Prints the new slot's id.

      \(SlotNameOptions.page)

    COFFER_TCTI names the TPM (default: device:/dev/tpmrm0).

    example: coffer slot add tpm
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var pin: PINOptions
  @OptionGroup var label: SlotNameOptions

  func execute(_ context: CommandContext) throws {
    // Before anything is asked: is there a chip?
    guard let chip = context.machine.chip else { throw EnclaveError.unavailable }
    try chip.checkReadiness()
    guard try !context.locked().hasSlot(of: context.machine.chipSlot()) else {
      throw KeybagError.deviceHasSlot
    }
    let name = try label.checked(context)
    let coffer = try context.openToAdd(passphrase)
    let slot = SlotAnswer(
      try coffer.addSlot(context.machine.chipSlot(), pin: context.newPIN(pin.given()), label: name))
    context.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
  }
}
