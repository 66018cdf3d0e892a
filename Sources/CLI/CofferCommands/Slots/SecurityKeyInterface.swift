// SPDX-License-Identifier: Apache-2.0
//
// Opening with a security key: asks the one that is plugged in, once for all slots. If there is none, says so and asks
// for something else instead. A wrong PIN of the key is never tried on anything else, nor is another PIN tried on it.

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import ProtectedData
internal import Secrets
internal import SecurityKeys

/// A security key, and its PIN or a finger on it.
enum SecurityKeyInterface: SlotInterface {
  static var method: any SlotMethod.Type { SecurityKeySlot.self }
  static var addCommand: any CofferCommand.Type { SlotAddSecurityKeyCommand.self }
  static var addUsage: String { "\(SlotNameOptions.usage) \(PINOptions.usage)" }
  static func words(_ slot: KeySlot) -> String { "its PIN or a finger on it" }

  /// What is plugged in; nil if no slot needs it.
  static func presence(_ locked: LockedCoffer) -> MachineFacts.SecurityKeyPresence? {
    hasSlot(locked) ? MachineFacts.SecurityKeyPresence(locked.machine) : nil
  }

  /// Whether it is one of the coffer's keys is known only after a touch.
  static func obstacle(_ locked: LockedCoffer) -> (any Error)? {
    guard let finder = locked.machine.securityKeys else { return Failure.noSecurityKeysBuilt }
    do throws(SecurityKeyError) { _ = try finder.onlyKey() } catch { return error }
    return nil
  }

  static func open(
    _ locked: LockedCoffer, pin: SharedSecretBytes, _ context: CommandContext
  ) throws -> Coffer? {
    hasSlot(locked) ? try open(locked, givenPIN: pin, context) : nil
  }

  /// Opens the coffer with the key that is plugged in, and in no other way.
  /// - Parameter pin: the key's; nil for a finger, or to ask for it.
  /// - Throws: `KeybagError.noSuchSlot`; `SecurityKeyError`; ``Failure``.
  static func open(
    _ locked: LockedCoffer, givenPIN pin: SharedSecretBytes?, _ context: CommandContext
  ) throws -> Coffer {
    guard hasSlot(locked) else { throw KeybagError.noSuchSlot }
    let question = locked.securityKeyQuestion
    return try locked.unlock(
      context.securityKeyAnswer(question.credentials, salt: question.salt, pin: pin, option: "--pin"))
  }

  /// - Throws: `SecurityKeyError.wrongPIN` after as many wrong PINs as there are tries; `.cancelled`.
  static func openByPrompt(_ locked: LockedCoffer, _ context: CommandContext) throws -> Coffer? {
    guard hasSlot(locked) else { return nil }
    let otherWay = TPMInterface.hasSlot(locked) ? "the PIN or the passphrase" : "the passphrase"
    if let obstacle = obstacle(locked) {
      context.remark("\(SlotInterfaces.sentence(obstacle)): use \(otherWay)")
      return nil
    }
    let question = locked.securityKeyQuestion
    do {
      return try locked.unlock(
        context.securityKeyAnswer(
          question.credentials, salt: question.salt, pin: nil, option: "--pin", otherWay: otherWay))
    } catch is OtherWayChosen {
      return nil
    } catch let error as SecurityKeyError {
      switch error {
      case .wrongPIN, .cancelled: throw error
      default:
        context.remark("\(SlotInterfaces.sentence(error)): use \(otherWay)")
        return nil
      }
    }
  }
}

struct SlotAddSecurityKeyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "security-key", abstract: "Add a FIDO2 security key.")
  static let page = """
    coffer slot add security-key: open with a FIDO2 security key

    usage: coffer slot add security-key \(SlotNameOptions.usage) \(PINOptions.usage)
                                        \(PassphraseOptions.usage)

    Asks for the passphrase, and then for the PIN of the security key that is plugged in, or a finger on it.
    Touch it each time that it blinks, three times in all. From then on the key opens the coffer, with its
    PIN or your finger, on any machine. It needs the extension hmac-secret and a PIN or an enrolled finger;
    Coffer sets neither. The key counts wrong PINs and blocks itself. The passphrase and the recovery phrase
    still work, and one of them always stays: a key can be lost. Prints the new slot's id.

    Whoever has the key and its PIN has the coffer. If a security key is also the guard of high security,
    nothing else is needed then; a different key for each keeps them apart.

      \(SlotNameOptions.page)
                   By default it is 'security key'.
      --pin-fd, --pin-file  the PIN of the security key

    example: coffer slot add security-key --name red
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @OptionGroup var pin: PINOptions
  @OptionGroup var label: SlotNameOptions

  /// The format wants a name for every security key.
  private static let defaultName = "security key"

  func execute(_ context: CommandContext) throws {
    // Before anything is asked: is there a key?
    _ = try context.onlySecurityKey()
    let name = try label.checked(context, default: Self.defaultName) ?? Self.defaultName
    // The key that is plugged in is the new one, so it opens nothing yet.
    let ways = SlotInterfaces.all.filter { $0 != SecurityKeyInterface.self }
    let coffer = try context.openToAdd(passphrase, asking: ways)
    let question = try coffer.questionForSlot(labelled: name)
    let made = try context.enrolledSecurityKey(
      besides: question.credentials, salt: question.salt, pin: pin.given(), option: "--pin")
    let slot = SlotAnswer(try coffer.addSlot(made, label: name, question))
    context.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
    if try coffer.authenticationMode() == .highSecurityWithGuard, try coffer.guardKeys() != nil {
      context.remark("If this key is also in the guard, the key and its PIN alone open private parts.")
    }
  }
}
