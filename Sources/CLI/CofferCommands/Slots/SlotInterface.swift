// SPDX-License-Identifier: Apache-2.0
//
// The ways to open a coffer as the commands know them. A new one is a file beside this one and a line in
// `SlotInterfaces.all`; what it is in the keybag is a `SlotMethod` of Keychains.

internal import CofferKit
internal import Keychains
internal import Secrets

/// How one kind of slot is added, asked for and told.
protocol SlotInterface: Sendable {
  static var method: any SlotMethod.Type { get }
  /// What opens a slot, for a list of slots.
  static func words(_ slot: KeySlot) -> String
  /// `coffer slot add NAME`.
  static var addCommand: any CofferCommand.Type { get }
  /// The command's own options, for its group's page.
  static var addUsage: String { get }
  /// Asks, and opens the coffer.
  ///
  /// - Returns: nil when there is no such slot, it cannot be opened now, or the user would rather use another.
  static func openByPrompt(_ locked: LockedCoffer, _ context: CommandContext) throws -> Coffer?
  /// Opens the coffer with a PIN that was given; nil when it has no slot of this kind, or the kind no PIN.
  static func open(
    _ locked: LockedCoffer, pin: SharedSecretBytes, _ context: CommandContext
  ) throws -> Coffer?
  /// What keeps the slots of this kind from being opened here and now; nil when nothing is known to.
  static func obstacle(_ locked: LockedCoffer) -> (any Error)?
}

extension SlotInterface {
  static func openByPrompt(_ locked: LockedCoffer, _ context: CommandContext) throws -> Coffer? { nil }
  static func open(
    _ locked: LockedCoffer, pin: SharedSecretBytes, _ context: CommandContext
  ) throws -> Coffer? { nil }
  static func obstacle(_ locked: LockedCoffer) -> (any Error)? { nil }

  /// Whether the coffer has such a slot.
  static func hasSlot(_ locked: LockedCoffer) -> Bool { locked.slots.contains { $0.kind == method.kind } }
}

enum SlotInterfaces {
  /// In the order of lists. The last is asked for first: a PIN is shorter than a passphrase. A PIN that was given is
  /// the chip's before it is a security key's.
  static var all: [any SlotInterface.Type] {
    [
      PassphraseInterface.self, RecoveryPhraseInterface.self, TPMInterface.self, SecurityKeyInterface.self,
    ]
  }

  static func interface(of slot: KeySlot) -> (any SlotInterface.Type)? {
    all.first { $0.method.kind == slot.kind }
  }

  /// Why a way cannot be used, as the beginning of a sentence.
  static func sentence(_ obstacle: any Error) -> String {
    if case KeybagError.enclave(let error) = obstacle { return error.sentence }
    let message = Failure(obstacle).message
    return message.prefix(1).uppercased() + message.dropFirst()
  }
}
