// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Vaults

struct MessageSaveCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Save the attachments of a mail as files.")
  static let page = """
    coffer message save: save the attachments of a mail as files

    usage: coffer message save WHICH [DIR] [--part N]...
                               \(OpeningOptions.usage)

    Writes every attachment to DIR, or to this folder, under the name that the sender chose, as far as it
    can do no harm. Nothing is overwritten: if one of the names is taken, nothing is written. Any other
    message is saved whole, with its title as the name. 'coffer help message' says what WHICH may be.

      --part N  this part, also if it is text; 'coffer message show' has the numbers; may be repeated

    example: coffer message save lease ~/Documents
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "The number of a part; may be repeated.") var part: [Int] = []
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String
  @Argument(help: "A folder.", completion: .directory) var directory = "."

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let id = try MessageChoice.id(which, coffer, context)
    let paths = try coffer.vault.withMessage(id) { metadata, content in
      let stored = try StoredParts(metadata, content)
      let chosen = try chosen(stored)
      let names = PartName.distinct(chosen.map { PartName.cleaned($0.name ?? "", number: $0.number) })
      let files = try PartFiles(names, in: directory, hint: "name another folder")
      try files.write { stored.bytes(of: chosen[$0], in: content) }
      try files.claimNames()
      files.keep(context)
      return files.paths
    }
    if context.isJSON { JSON.print(["saved": paths]) }
  }

  private func chosen(_ stored: StoredParts) throws -> [StoredParts.Part] {
    if part.isEmpty {
      guard !stored.attachments.isEmpty else {
        throw Failure(
          .missing, "no_attachment", "this mail has no attachments", hint: "--part 1 saves its text")
      }
      return stored.attachments
    }
    return try part.reduce(into: []) { chosen, number in
      guard let found = stored.parts.first(where: { $0.number == number }) else {
        throw Failure(
          .missing, "part_not_found", "there is no part \(number)",
          hint: "it has \(stored.parts.count.counted("part"))")
      }
      if !chosen.contains(where: { $0.number == number }) { chosen.append(found) }
    }
  }
}
