// SPDX-License-Identifier: Apache-2.0
//
// The command `coffer`: its commands, its help, and how a run ends.

internal import ArgumentParser
internal import CSystem
internal import Foundation
internal import Pictures
internal import Secrets
package import SecurityKeys

struct CofferRoot: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "coffer", abstract: "Keeps messages and keys sealed on your own machine.",
    version: "coffer \(CofferVersion.text)",
    subcommands: [
      InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self, SlotCommand.self,
      PassphraseCommand.self, RecoverCommand.self,
      RecoveryCommand.self, DoctorCommand.self, AuditCommand.self, ForgetDeviceCommand.self,
      EraseCommand.self, MessageCommand.self,
      VaultCommand.self, CaptureCommand.self, IdentityCommand.self, ContactCommand.self,
      EncryptCommand.self, DecryptCommand.self, SignCommand.self, VerifyCommand.self,
      ModeCommand.self, SettingsCommand.self,
      RecoveryStateCommand.self, ResetCommand.self, AgentCommand.self,
      BackupCommand.self, RestoreCommand.self, GPGImportCommand.self, SelfTestCommand.self,
    ])
  static let page = """
    coffer: keeps messages and keys sealed on your own machine

    usage: coffer [--home DIR] [--json] [--quiet] COMMAND ...

      init                    make a coffer
      unlock | lock           begin and end a session
      status                  what is here, what opens it
      message add|show|list|search|remove|import|export
      vault status|rotate|rollback
      capture add|list|show|export|verify|remove
      identity generate|list|show|export|default|delete
      contact import|list|show|rename|remove|export|verify
      encrypt | decrypt       files and text to people, and from them
      sign | verify           make and check signatures
      mode [standard|high-security]
                              what each use of your private parts asks for
      settings [NAME VALUE]   grace-period, encrypt-to-self, lock-after, theme, next-steps
      slot list|add|remove    ways to open it: passphrases, recovery phrases, the TPM
      passphrase change|check|generate
      recovery-state | reset  what is wrong with protected data; delete it and start over
      recover                 open with the twelve words, set a new passphrase
      recovery drill          prove that the words work
      backup | restore        copy everything into one encrypted file; make a coffer of it
      gpg-import              take identities and contacts out of GnuPG
      doctor [--deep]         examine everything
      self-test               try everything out in memory, without a coffer
      audit                   the log of what was done
      agent                   keep the keys of an unlocked coffer
      forget-device           forget this machine's TPM and keys
      erase                   destroy everything

    The coffer is at --home, else COFFER_HOME, else in your data directory. Coffer asks for the passphrase on
    the terminal or with pinentry (COFFER_PINENTRY), unless you give it with --passphrase-fd N or
    --passphrase-file PATH. With a TPM slot, --pin-fd N or --pin-file PATH gives the PIN instead. Every
    command has --help; exit codes are in Specs/cli.md.

    example: coffer init
    """
}

enum CofferVersion {
  static let text = "0.1.0"
}

/// The whole program, apart from its process.
public enum CofferMain {
  /// The security keys of a test; nil for those of the system. No option and no variable of the environment sets it.
  @TaskLocal static var securityKeys: (any SecurityKeyFinder)?

  /// As ``run(_:as:)``, with other security keys, for tests.
  package static func run(_ arguments: [String], securityKeys: any SecurityKeyFinder) -> Int32 {
    $securityKeys.withValue(securityKeys) { run(arguments, as: "coffer") }
  }

  /// Runs a command line, without the program's own name.
  /// - Parameter program: the name under which it was started: git starts it as `coffer-gpg`.
  /// - Returns: the exit code.
  public static func run(_ arguments: [String], as program: String) -> Int32 {
    if GitProgram.isMeant(by: program) { return GitProgram.run(arguments) }
    // Coffer starts itself with this argument to decode a picture.
    if arguments == [PictureWorker.argument] { PictureWorker.run() }
    guard coffer_fill_standard_descriptors() == 0 else { return ExitCode.bug.rawValue }
    if arguments.isEmpty {
      Terminal.remark(lines: FirstSteps.areMissing ? FirstSteps.page : CofferRoot.page)
      return ExitCode.usage.rawValue
    }
    let line = ArgumentOrder.sorted(arguments, root: CofferRoot.self)
    let isJSON = line.options.contains("--json")
    let exit = perform(line, isJSON: isJSON)
    // If the command succeeded but its output was lost, that is a failure too; otherwise its own code counts.
    guard let failure = Terminal.outputFailure(), exit == .done else { return exit.rawValue }
    tell(failure, isJSON: isJSON)
    return failure.exit.rawValue
  }

  private static func perform(_ line: ArgumentOrder.Sorted, isJSON: Bool) -> ExitCode {
    do {
      if let command = try helped(line) {
        Terminal.print(lines: command.page)
        return .done
      }
      try checkCommand(line)
      try SecretMemory.prepare()
      try CommandLog.start()
      return try CommandLog.noting(line.words) {
        var parsed = try CofferRoot.parseAsRoot(line.arguments)
        try parsed.run()
        return .done
      }
    } catch {
      return end(error, isJSON: isJSON, line.command)
    }
  }

  /// The command to show help for: `--help` may be anywhere; also `coffer help message add`.
  private static func helped(_ line: ArgumentOrder.Sorted) throws -> (any HelpPage.Type)? {
    if line.options.contains(where: { $0 == "--help" || $0 == "-h" }) {
      // A group has no operands, so a word after it must be one of its commands.
      if line.command is any CommandGroup.Type, let word = line.rest.first, !word.hasPrefix("-") {
        throw unknown(word, after: line.command)
      }
      return line.command
    }
    guard line.words.isEmpty, line.rest.first == "help" else { return nil }
    let wanted = ArgumentOrder.sorted(Array(line.rest.dropFirst()), root: CofferRoot.self)
    if let word = wanted.rest.first { throw unknown(word, after: wanted.command) }
    return wanted.command
  }

  /// Refuses a group without a command, or with an unknown one.
  private static func checkCommand(_ line: ArgumentOrder.Sorted) throws {
    guard line.command is any CommandGroup.Type else {
      if let (option, name) = GnuPGOptions.known(in: line) {
        throw Failure.usage("unknown option '\(option)'", hint: "here it is \(name)")
      }
      return
    }
    guard let word = line.rest.first else {
      throw Failure.usage("missing command", hint: "\(commandLine(line.command)) --help")
    }
    if line.command == CofferRoot.self, word == "--version" || word.hasPrefix("--generate-completion-script")
    {
      return
    }
    throw unknown(word, after: line.command)
  }

  private static func unknown(_ word: String, after command: any HelpPage.Type) -> Failure {
    let message =
      if ArgumentOrder.takesValue(word) {
        "missing value for '\(word)'"
      } else if word.hasPrefix("-") {
        "unknown option '\(word)'"
      } else {
        "there is no command '\(commandLine(command)) \(word)'"
      }
    return Failure.usage(message, hint: "\(commandLine(command)) --help")
  }

  private static func end(_ error: any Error, isJSON: Bool, _ command: any HelpPage.Type) -> ExitCode {
    if CofferRoot.exitCode(for: error) == .success {
      // --version and --generate-completion-script end this way.
      Terminal.print(lines: CofferRoot.message(for: error))
      return .done
    }
    var failure = Failure(error)
    if failure.exit == .bug, CofferRoot.exitCode(for: error) == .validationFailure {
      failure = Failure.usage(usageMessage(error), hint: "\(commandLine(command)) --help")
    }
    tell(failure, isJSON: isJSON)
    return failure.exit
  }

  private static func tell(_ failure: Failure, isJSON: Bool) {
    Interruption.breakLine()
    Terminal.remark(lines: String(failure.lines(isJSON: isJSON).dropLast()))
  }

  /// The parser's message in our style: the first sentence, lower case, no full stop.
  private static func usageMessage(_ error: any Error) -> String {
    var text =
      CofferRoot.message(for: error).split(separator: "\n").first.map(String.init) ?? "not understood"
    if text.hasSuffix(".") { text.removeLast() }
    text = text.replacing(". Please provide one of", with: "; it is one of")
    text = text.replacing("issing expected argument", with: "issing argument")
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  private static func commandLine(_ command: any HelpPage.Type) -> String {
    command == CofferRoot.self ? "coffer" : "coffer \(path(to: command, from: CofferRoot.self) ?? "")"
  }

  private static func path(to command: any HelpPage.Type, from root: any HelpPage.Type) -> String? {
    for case let next as any HelpPage.Type in root.configuration.subcommands {
      if next == command { return next._commandName }
      if let rest = path(to: command, from: next) { return "\(next._commandName) \(rest)" }
    }
    return nil
  }
}
