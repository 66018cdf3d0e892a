// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Glibc
internal import Keychains

/// Twelve words, which only a recovery asks for.
enum RecoveryPhraseInterface: SlotInterface {
  static var method: any SlotMethod.Type { RecoveryPhraseSlot.self }
  static func words(_ slot: KeySlot) -> String { "twelve words" }
  static var addCommand: any CofferCommand.Type { SlotAddRecoveryCommand.self }
  static var addUsage: String { "\(SlotNameOptions.usage) [--recovery-phrase-out FILE]" }
}

struct SlotAddRecoveryCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "recovery", abstract: "Add a recovery phrase.")
  static let page = """
    coffer slot add recovery: add another recovery phrase

    usage: coffer slot add recovery \(SlotNameOptions.usage) [--recovery-phrase-out FILE]
               \(OpeningOptions.usage)

    Shows twelve new words, as 'coffer init' does, and prints the new slot's id. Older phrases keep working
    until you remove their slots.

      \(SlotNameOptions.page)

    example: coffer slot add recovery --recovery-phrase-out words.txt
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var label: SlotNameOptions
  @Option(help: "Write the recovery phrase to a new file.", completion: .file()) var recoveryPhraseOut:
    String?

  func validate() throws { try FileArgument.check(recoveryPhraseOut) }

  func execute(_ context: CommandContext) throws {
    if recoveryPhraseOut == nil { try context.requireTerminalForWords() }
    let name = try label.checked(context)
    let coffer = try context.open(opening, needing: .slot)
    let phrase = try PhraseHandover(context).makePhrase(file: recoveryPhraseOut)
    let slot: SlotAnswer
    do {
      slot = SlotAnswer(try coffer.addSlot(phrase, label: name))
    } catch {
      // Words that open nothing would only mislead.
      if let recoveryPhraseOut { unsafe unlink(recoveryPhraseOut) }
      throw error
    }
    context.isJSON ? JSON.print(slot) : Terminal.print("\(slot.id)")
    try AccountReminder(coffer, context).wordsAdded()
  }
}
