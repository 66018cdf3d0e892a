// SPDX-License-Identifier: Apache-2.0
//
// One identity of yours replaces another: both say so, and others can compare it.

internal import ArgumentParser
internal import CofferKit
internal import Identities

struct IdentityReplaceCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "replace", abstract: "Say that one identity replaces another.")
  static let page = """
    coffer identity replace: say that another identity of yours replaces this one

    usage: coffer identity replace WHO --by NEW
               \(OpeningOptions.usage)

    Both say so: to others that proves that the new one is yours. Few programs show it yet. Nothing ends:
    you read and sign with both until you revoke the old one. Backups stay good.

      --by  the identity that replaces it

    example: coffer identity replace ada@old.example --by ada@new.example
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "The identity that replaces it.") var by: String
  @Argument(help: "The identity that is replaced.", completion: Completions.identities) var who: String

  struct Answer: Encodable {
    let old: IdentityView.Answer
    let new: IdentityView.Answer
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let (store, identities) = try context.identities(coffer)
    let (old, new) = (try identities.chosen(who), try identities.chosen(by))
    try store.store.check(replacing: old, by: new)
    let parts = try context.privateParts(
      coffer, opening, "to replace \(IdentityView(old).name)", sealing: true)
    let owned = try parts.coffer.openIdentities()
    let made = try parts.coffer.replaceIdentity(old, by: new, owned, parts.authorization)
    let all = try parts.coffer.identities(owned)
    let views = (old: IdentityView(made.old, among: all), new: IdentityView(made.new, among: all))
    if context.isJSON {
      return JSON.print(
        Answer(
          old: views.old.answer(withParts: true),
          new: views.new.answer(withParts: true)))
    }
    context.remark("'\(views.new.title)' replaces '\(views.old.title)', as both say.")
    context.nextSteps(
      parts.coffer, "People have the old public parts. Send them both new ones:",
      "  coffer identity export \(views.old.word) > OLD; coffer identity export \(views.new.word) > NEW",
      "When nobody writes to the old one any more:",
      "  coffer identity revoke \(views.old.word) --reason superseded")
  }
}
