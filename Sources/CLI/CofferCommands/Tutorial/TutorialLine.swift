// SPDX-License-Identifier: Apache-2.0
//
// A line that was typed in the tutorial: its words, and what is refused with an explanation. Nothing depends on these
// refusals: without them a command would find no such file and no such command.

internal import ArgumentParser

/// A line, taken apart as a shell does.
struct TutorialLine {
  /// Without the word `coffer`.
  let words: [String]

  /// - Throws: ``Failure`` for what only a shell can do, and for what leads outside of the tutorial.
  init(_ text: String) throws {
    // As pages write the shell's prompt.
    let line = text.trimmingPrefix { $0 == " " }
    var words = try Self.words(String(line.hasPrefix("$ ") ? line.dropFirst(2) : line))
    if words.first == "coffer" { words.removeFirst() }
    self.words = words
    try Self.checkInside(words)
  }

  private static func words(_ text: String) throws -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "\\" {
        isEscaped = true
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character == " " || character == "\t" {
        if let word { words.append(word) }
        word = nil
      } else if shellCharacters.contains(character) {
        throw Failure.usage(
          "here is no shell, which '\(character)' is for",
          hint: "commands that write take --output FILE; quote a name such as 'Ada <ada@example.org>'")
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { throw Failure.usage("a quotation mark is missing at the end") }
    if let word { words.append(word) }
    return words
  }

  private static let shellCharacters: Set<Character> = ["|", ">", "<", ";", "&", "`", "$"]

  private static func checkInside(_ words: [String]) throws {
    if words.contains(where: { $0 == "--home" || $0.hasPrefix("--home=") }) {
      throw Failure.notInTutorial("other coffer")
    }
    for word in words {
      let option = word.prefix { $0 != "=" }
      if option.hasPrefix("--"), option != "--to-file",
        option.hasSuffix("-fd") || option.hasSuffix("-file")
      {
        throw Failure.notInTutorial("secrets but those that you type")
      }
      if PublicPartInput.isURL(word) || word.contains("://") { throw Failure.notInTutorial("URLs") }
      if ["/", "~", "./", "../"].contains(where: word.hasPrefix) {
        throw Failure.notInTutorial("files but its own")
      }
    }
    let meant = ArgumentOrder.sorted(words, root: CofferRoot.self)
    guard !meant.words.isEmpty else { return }
    let here = ArgumentOrder.sorted(words, root: TutorialRoot.self)
    guard here.words == meant.words else {
      throw Failure(
        .refused, "not_in_tutorial",
        "'coffer \(meant.words.joined(separator: " "))' is not in the tutorial: it is for a coffer of your own",
        hint: "'hint' says what to type here")
    }
  }
}

/// The commands that the tutorial has. There are no others for its parser.
struct TutorialRoot: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "coffer", abstract: "The commands of the tutorial.",
    subcommands: [
      TutorialIdentityCommand.self, TutorialContactCommand.self, EncryptCommand.self, DecryptCommand.self,
      SignCommand.self, VerifyCommand.self, ModeCommand.self, SelfTestCommand.self,
    ])
  static let page = """
    The tutorial has these commands of coffer; each has --help:

      identity generate|list|show|export|qr|default|backup|import|certify
      contact import|list|show|rename|remove|export|qr|verify
      encrypt | decrypt | sign | verify
      mode [standard|high-security]
      self-test

    And four words of its own: hint, skip, quit, and again, which repeats what to do.

    example: identity list
    """
}

struct TutorialIdentityCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "identity", abstract: "Your own OpenPGP keys.",
    subcommands: [
      IdentityGenerateCommand.self, IdentityListCommand.self, IdentityShowCommand.self,
      IdentityExportCommand.self, IdentityQRCommand.self, IdentityDefaultCommand.self,
      IdentityBackupCommand.self, IdentityImportCommand.self, IdentityCertifyCommand.self,
    ])
  static let page = IdentityCommand.page
}

struct TutorialContactCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Public parts of other people's keys.",
    subcommands: [
      ContactImportCommand.self, ContactListCommand.self, ContactShowCommand.self,
      ContactRenameCommand.self, ContactRemoveCommand.self, ContactExportCommand.self,
      ContactQRCommand.self, ContactVerifyCommand.self,
    ])
  static let page = ContactCommand.page
}
