// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Keychains
internal import Primitives
internal import Secrets
internal import UserAuthentication

struct PassphraseCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "passphrase", abstract: "Change, check or make a passphrase.",
    subcommands: [
      PassphraseChangeCommand.self, PassphraseCheckCommand.self, PassphraseGenerateCommand.self,
    ])
  static let page = """
    coffer passphrase: change, check or make a passphrase

    usage: coffer passphrase change
           coffer passphrase check [--policy standard|strict|long]
           coffer passphrase generate

    example: coffer passphrase generate
    """
}

struct PassphraseChangeCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "change", abstract: "Change the passphrase.")
  static let page = """
    coffer passphrase change: replace the passphrase that you open the coffer with

    usage: coffer passphrase change [--kdf argon2id|pbkdf2]
               \(OpeningOptions.usage)
               \(NewPassphraseOptions.usage)

    If this is interrupted, either the old or the new passphrase opens the coffer. Ends the session. Earlier
    copies of the file still open with the old one.

    example: coffer passphrase change
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var newPassphrase: NewPassphraseOptions
  @Option(help: "The key derivation for the passphrase; by default the same as before.") var kdf: KDFName?

  struct Answer: Encodable {
    let changed = "passphrase"
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening, needing: .slot)
    let new = try context.newPassphrase(newPassphrase.given(), policy: coffer.settings().policy)
    // With another key derivation the same one is a change too.
    if kdf == nil { try PassphraseInterface.checkIsNew(new, coffer) }
    try coffer.changePassphrase(to: new, kdf: kdf?.kdf)
    let ending = SessionEnding(coffer)
    if context.isJSON { JSON.print(Answer(sessionEnded: ending.wasThere)) }
    context.remark("The passphrase is changed. Older copies of the file still open with the old one.")
    try ending.tell(context)
    try AccountReminder(coffer, context).passphraseChanged(to: new)
  }
}

struct PassphraseCheckCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "check", abstract: "Rate a passphrase.")
  static let page = """
    coffer passphrase check: rate a passphrase, without storing it

    usage: coffer passphrase check [--policy standard|strict|long]
                                   \(PassphraseOptions.usage)

    Exit code 0 when the policy accepts it, 7 when not. Needs no coffer.

    example: coffer passphrase check
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var passphrase: PassphraseOptions
  @Option(help: "What a passphrase must satisfy.") var policy: PassphrasePolicy = .usual

  struct Answer: Encodable {
    let accepted: Bool
    let strength: String
    let score: Int
    let problems: [String]
  }

  func execute(_ context: CommandContext) throws {
    let given =
      try passphrase.given()
      ?? Passphrase(
        utf8: context.prompt().ask(PromptRequest("passphrase", meter: CommandContext.meter(policy))))
    let assessment = policy.check(given)
    let answer = Answer(
      accepted: assessment.isAccepted, strength: assessment.strength.rawValue, score: assessment.score,
      problems: assessment.problems.map(\.description))
    if context.isJSON {
      JSON.print(answer)
    } else {
      Terminal.print("\(answer.strength) (\(answer.score) of 4)")
      for problem in answer.problems { Terminal.print("- \(problem)") }
    }
    guard answer.accepted else {
      throw Failure(.refused, "weak_passphrase", "the policy '\(policy.rawValue)' refuses this passphrase")
    }
  }
}

struct PassphraseGenerateCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "generate", abstract: "Make a passphrase.")
  static let page = """
    coffer passphrase generate: make a passphrase of six random words

    usage: coffer passphrase generate

    The words have 66 bits of randomness; the digit is there because policies require one. Prints the
    passphrase to standard output and stores nothing.

    example: coffer passphrase generate
    """

  @OptionGroup var global: GlobalOptions

  func execute(_ context: CommandContext) throws {
    let generated = PassphraseGenerator.generate(random: SystemRandom.fill)
    if context.isJSON { Self.write("{\"passphrase\":\"") }
    // Letters, hyphens and a digit: nothing that JSON would escape.
    generated.withBytes { Terminal.write($0) }
    Self.write(context.isJSON ? "\"}\n" : "\n")
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    Terminal.write(bytes.rawSpan)
  }
}
