// SPDX-License-Identifier: Apache-2.0
//
// The command `coffer`: its commands, its help, and how a run ends.

internal import ArgumentParser
internal import CSystem
internal import Clipboards
package import CofferKit
internal import Editing
internal import Foundation
internal import Keychains
internal import Pictures
internal import Secrets

struct CofferRoot: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "coffer", abstract: "Keeps messages and keys sealed on your own machine.",
    version: "coffer \(CofferVersion.text)",
    subcommands: [
      InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self, SlotCommand.self,
      PassphraseCommand.self, RecoverCommand.self,
      RecoveryCommand.self, DoctorCommand.self, AuditCommand.self, ForgetDeviceCommand.self,
      EraseCommand.self, MessageCommand.self, BrowseCommand.self, TrashCommand.self,
      VaultCommand.self, CaptureCommand.self, IdentityCommand.self, ContactCommand.self,
      EncryptCommand.self, DecryptCommand.self, SignCommand.self, VerifyCommand.self,
      ModeCommand.self, SettingsCommand.self,
      RecoveryStateCommand.self, ResetCommand.self, AgentCommand.self,
      BackupCommand.self, RestoreCommand.self, RemoteCommand.self, SyncCommand.self, DeviceCommand.self,
      AccountCommand.self,
      GPGImportCommand.self,
      SelfTestCommand.self,
      TutorialCommand.self,
    ])
  static let page = """
    coffer: keeps messages and keys sealed on your own machine

    usage: coffer [--home DIR] [--json] [--quiet] COMMAND ...

      init                    make a coffer
      unlock | lock           begin and end a session
      status                  what is here, what opens it
      message add|show|list|search|copy|edit|set|history|remove
                              'message' may be left out before these
      message restore|import|export
      browse                  list, search and read messages on the whole screen
      trash list|restore|empty
      vault status|rotate|rollback
      capture add|list|search|show|set|export|keep|release|verify|remove|queue|mark|sweep
      identity generate|list|show|export|qr|backup|import
      identity expire|revoke|default|delete
      contact import|list|show|rename|remove|export|qr|verify
      encrypt | decrypt       files and text to people, and from them
      sign | verify           make and check signatures
      mode [standard|high-security]
                              what each use of your private parts asks for
      settings [NAME VALUE]   grace-period, encrypt-to-self, lock-after, session-limit, theme, next-steps
      slot list|add|remove    ways to open it: passphrases, recovery phrases, the TPM, security keys
      passphrase change|check|generate
      recovery-state | reset  what is wrong with protected data; delete it and start over
      recover                 open with the twelve words, set a new passphrase
      recovery drill          prove that the words work; with --remote, that a restore would bring all
      backup | restore        copy everything into one encrypted file; make a coffer of it
      remote add|restore|join|check|show|card|verify|sweep|move|forget|destroy|policy
                              several devices, and your messages at a place outside of this one
      sync [status|quarantine]
                              get what is new from the other devices, send what waits
      device list|approve|revoke|rejoin|confirm
                              the devices of your account
      account slots|passphrase|settle
                              what opens your account
      gpg-import              take identities and contacts out of GnuPG
      doctor [--deep]         examine everything
      self-test               try everything out in memory, without a coffer
      tutorial                learn it in ten minutes; nothing there is real
      audit                   the log of what was done
      agent                   keep the keys of an unlocked coffer
      forget-device           forget this machine's TPM and keys
      erase                   destroy everything

    The coffer is at --home, else COFFER_HOME, else in your data directory. --json answers in JSON, and
    --quiet leaves out remarks. Coffer asks for the passphrase on the terminal or with pinentry
    (COFFER_PINENTRY), unless you give it with --passphrase-file PATH or --passphrase-fd N, where N is a
    descriptor: --passphrase-fd 3 3< PATH. With a TPM slot, --pin-fd N or --pin-file PATH gives the PIN
    instead, and with --security-key the PIN of the security key. Every command has --help; exit codes are
    in 'man coffer'.

    example: coffer init
    """
}

enum CofferVersion {
  static let text = "0.1.0"
}

/// The whole program, apart from its process.
public enum CofferMain {
  /// Runs a command line, without the program's own name, beside others in this process: nothing of the process is
  /// changed, and nothing of it reaches the command but files. A relative path begins where the calling thread is.
  /// - Returns: the exit code.
  package static func run(_ arguments: [String], in environment: RunEnvironment) -> Int32 {
    within(environment) { perform(arguments) }
  }

  private static func within<R>(_ environment: RunEnvironment, _ body: () throws -> R) rethrows -> R {
    try SystemSurroundings(CommandRun(environment)).here(body)
  }

  /// Plays the tutorial without a word and without pauses, for tests.
  /// - Parameter watch: is shown each chapter's coffer at its end, opened with its passphrase.
  package static func playTutorial(watching watch: @escaping (Coffer) throws -> Void) throws {
    try within(.ofSystem) {
      let session = try TutorialSession(TutorialPace(speed: 0)) { memory in
        try watch(memory.locked().unlock(SlotCredential(TutorialSurroundings.typedPassphrase())))
      }
      _ = try session.runSilently(from: 0)
    }
  }

  /// Runs the command line of this process, without the program's own name.
  /// - Parameter program: the name under which it was started: git starts it as `coffer-gpg`.
  /// - Returns: the exit code.
  public static func run(_ arguments: [String], as program: String) -> Int32 {
    run(arguments, as: program) { _ in }
  }

  /// The same with something else given to the run, for programs of tests.
  package static func run(
    _ arguments: [String], as program: String, changing change: (inout RunEnvironment) -> Void
  ) -> Int32 {
    if GitProgram.isMeant(by: program) { return ofProcess(change) { GitProgram.run(arguments) } }
    // Coffer starts itself with one of these arguments to decode a picture, or to find the codes in one.
    if arguments == [PictureWorker.argument] { PictureWorker.run() }
    if arguments == [CodeReader.argument] { CodeReader.run() }
    // And with this one, and two more, to run an editor.
    if arguments.first == EditorWorker.argument { EditorWorker.run(arguments) }
    // With these to keep a text on the clipboard for a while.
    if arguments.first == ClipboardKeeper.argument { ClipboardKeeper.run(arguments) }
    if arguments.first == ClipboardHolder.argument { ClipboardHolder.run(arguments) }
    return ofProcess(change) { perform(arguments) }
  }

  /// Runs what has this process for itself.
  private static func ofProcess(_ change: (inout RunEnvironment) -> Void, _ body: () -> Int32) -> Int32 {
    guard coffer_fill_standard_descriptors() == 0 else { return ExitCode.bug.rawValue }
    var environment = RunEnvironment.ofProcess
    change(&environment)
    return within(environment, body)
  }

  /// Before a command runs, and not for help: what is done once for the process of a run.
  private static func prepare() throws {
    if CommandRun.current.environment.ownsProcess { try SecretMemory.prepare() }
    try CommandLog.start()
  }

  /// Runs a command line in the surroundings of the caller.
  private static func perform(_ arguments: [String]) -> Int32 {
    if arguments.first == Completions.argument { return complete(arguments) }
    if arguments.isEmpty {
      let columns = Terminal.isErrorTerminal ? Terminal.errorColumns : nil
      Terminal.remark(
        lines: FirstSteps.areMissing ? FirstSteps.page : HelpText.fitted(CofferRoot.page, to: columns))
      return ExitCode.usage.rawValue
    }
    // Both are what other programs take.
    let asksVersion = ["version", "-V"].contains(arguments.first)
    let line = ArgumentOrder.sorted(
      asksVersion ? ["--version"] : arguments, root: CofferRoot.self, takesDefault: true)
    let isJSON = line.options.contains("--json")
    let exit = perform(line, root: CofferRoot.self, beginning: prepare)
    // If the command succeeded but its output was lost, that is a failure too; otherwise its own code counts.
    guard let failure = Terminal.outputFailure(), exit == .done else { return exit.rawValue }
    tell(failure, isJSON: isJSON)
    return failure.exit.rawValue
  }

  /// Tells a shell what may be on the command line. Whatever goes wrong, it says nothing: somebody is typing.
  private static func complete(_ arguments: [String]) -> Int32 {
    do {
      try prepare()
      _ = try ShellRoot.parseAsRoot(arguments)
    } catch {
      guard ShellRoot.exitCode(for: error) == .success else { return ExitCode.done.rawValue }
      Terminal.print(lines: ShellRoot.message(for: error))
      Terminal.flush()
    }
    return ExitCode.done.rawValue
  }

  /// Runs a command line in the surroundings of the caller.
  /// - Parameters:
  ///   - root: the commands that there are.
  ///   - begin: is called before the command runs, and not for help.
  static func perform(
    _ line: ArgumentOrder.Sorted, root: any CommandGroup.Type, beginning begin: () throws -> Void = {}
  ) -> ExitCode {
    let isJSON = line.options.contains("--json")
    do {
      if let command = try helped(line, root) {
        let columns = Terminal.isOutputTerminal ? Terminal.columns : nil
        Terminal.beginPaging(mayPage: !line.options.contains("--no-pager"))
        Terminal.print(lines: HelpText.fitted(command.help, to: columns))
        Terminal.endPaging()
        return .done
      }
      try checkCommand(line, root)
      try begin()
      return try CommandLog.noting(line.words) {
        var parsed = try parser(line, root).parseAsRoot(line.arguments)
        try parsed.run()
        return .done
      }
    } catch {
      return end(error, isJSON: isJSON, line, root)
    }
  }

  /// What parses the line: a script for a shell is about more words than a user sees in the help.
  private static func parser(
    _ line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) -> any ParsableCommand.Type {
    let isForShell = line.rest.first?.hasPrefix("--generate-completion-script") ?? false
    return isForShell ? ShellRoot.self : root
  }

  /// The command to show help for: `--help` may be anywhere; also `coffer help message add`, and `coffer help sync status`,
  /// whose last word is an operand.
  private static func helped(
    _ line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) throws -> (any HelpPage.Type)? {
    if line.options.contains(where: { $0 == "--help" || $0 == "-h" }) {
      // A group has no operands, so a word after it must be one of its commands.
      if line.command is any CommandGroup.Type, let word = line.rest.first, !word.hasPrefix("-") {
        throw unknown(word, in: line, root)
      }
      return line.command
    }
    guard line.words.isEmpty, line.rest.first == "help" else { return nil }
    let wanted = ArgumentOrder.sorted(Array(line.rest.dropFirst()), root: root)
    if let word = wanted.rest.first, wanted.command is any CommandGroup.Type || word.hasPrefix("-") {
      throw unknown(word, in: wanted, root)
    }
    return wanted.command
  }

  /// Refuses a group without a command, or with an unknown one.
  private static func checkCommand(
    _ line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) throws {
    guard line.command is any CommandGroup.Type else {
      if let (option, name) = ForeignOptions.known(in: line) {
        throw Failure.usage("unknown option '\(option)'", hint: "here it is \(name)")
      }
      if let letter = ForeignOptions.letter(in: line) {
        let remark = letter == "-i" ? "case never counts; " : ""
        throw Failure.usage(
          "unknown option '\(letter)'",
          hint:
            "\(remark)to leave out what has '\(letter.dropFirst())': \(commandLine(line.command, root)) WHAT -- \(letter)"
        )
      }
      return
    }
    guard let word = line.rest.first else {
      throw Failure.usage("missing command", hint: "\(commandLine(line.command, root)) --help")
    }
    if line.command == root, word == "--version" || word.hasPrefix("--generate-completion-script") {
      return
    }
    throw unknown(word, in: line, root)
  }

  private static func unknown(
    _ word: String, in line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) -> Failure {
    let start = commandLine(line.command, root)
    if ArgumentOrder.takesValue(word) {
      return Failure.usage("missing value for '\(word)'", hint: "\(start) --help")
    }
    if line.command == root, word == "-v" {
      return Failure.usage("unknown option '-v'", hint: "coffer --version")
    }
    if word.hasPrefix("-") { return early(word, in: line, root) }
    if line.command == root, word.hasPrefix("completion") {
      return Failure.usage(
        "there is no command 'coffer \(word)'", hint: "coffer --generate-completion-script bash, zsh or fish")
    }
    if line.command == root, ["undo", "undelete"].contains(word) {
      return Failure.usage(
        "there is no command 'coffer \(word)'", hint: "coffer trash restore, coffer message restore")
    }
    // What follows may be right: "mesage list".
    let near = NearName.ofCommand(word, among: line.command.subcommandNames).map { name in
      ArgumentOrder.sorted(line.words + [name] + line.rest.dropFirst(), root: root).command
    }
    let elsewhere = line.command == root && near == nil ? groups(with: word, root) : []
    return Failure.usage(
      "there is no command '\(start) \(word)'",
      hint: near.map { commandLine($0, root) }
        ?? (elsewhere.isEmpty
          ? "\(start) --help" : elsewhere.map { "\(start) \($0) \(word)" }.joined(separator: ", ")))
  }

  /// The names of the groups that have a command `word`.
  private static func groups(with word: String, _ root: any CommandGroup.Type) -> [String] {
    var names: [String] = []
    for case let group as any CommandGroup.Type in root.configuration.subcommands
    where group.subcommandNames.contains(word) {
      names.append(group._commandName)
    }
    return names
  }

  /// An option that is unknown where it is: before the command.
  private static func early(
    _ option: String, in line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) -> Failure {
    let lines = line.rest.indices.dropFirst().lazy.map { start in
      ArgumentOrder.sorted(line.words + line.rest[start...], root: root)
    }
    let command = lines.first { $0.words.count > line.words.count }?.command ?? line.command
    let name = String(option.prefix { $0 != "=" })
    guard command != line.command, command.optionNames.contains(name) else {
      return unknownOption(option, of: command, root)
    }
    return Failure.usage(
      "'\(name)' goes after the command", hint: "\(commandLine(command, root)) \(option) ...")
  }

  private static func unknownOption(
    _ option: String, of command: any HelpPage.Type, _ root: any CommandGroup.Type
  ) -> Failure {
    let near = NearName.of(option, among: command.optionNames)
    return Failure.usage(
      "unknown option '\(option)'",
      hint: near.map { "is it \($0)?" } ?? "\(commandLine(command, root)) --help")
  }

  private static func end(
    _ error: any Error, isJSON: Bool, _ line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) -> ExitCode {
    if root.exitCode(for: error) == .success {
      // --version and --generate-completion-script end this way.
      Terminal.print(lines: parser(line, root).message(for: error))
      return .done
    }
    var failure = Failure(error)
    if failure.exit == .bug, root.exitCode(for: error) == .validationFailure {
      let message = usageMessage(error, line, root)
      let isAboutShells = message.contains("completion scripts for")
      // A misspelt option is why another seems to be missing.
      failure =
        line.unknownOption.map { unknownOption($0, of: line.command, root) }
        ?? Failure.usage(
          message,
          hint: isAboutShells
            ? "there are scripts for bash, zsh and fish" : "\(commandLine(line.command, root)) --help")
    }
    tell(failure, isJSON: isJSON)
    return failure.exit
  }

  static func tell(_ failure: Failure, isJSON: Bool) {
    Interruption.breakLine()
    for line in failure.lines(isJSON: isJSON) {
      isJSON ? Terminal.remark(whole: line) : Terminal.remark(line)
    }
  }

  /// The parser's message in our style: the first sentence, lower case, no full stop.
  private static func usageMessage(
    _ error: any Error, _ line: ArgumentOrder.Sorted, _ root: any CommandGroup.Type
  ) -> String {
    var text =
      root.message(for: error).split(separator: "\n").first.map(String.init) ?? "not understood"
    if text.hasSuffix(".") { text.removeLast() }
    text = text.replacing(". Please provide one of", with: "; it is one of")
    if let name = text.wholeMatch(of: /Missing expected argument '<([a-z-]+)>.*/)?.1,
      let question = MissingArgument.question(String(name), of: commandLine(line.command, root))
    {
      return question
    }
    text = text.replacing("issing expected argument", with: "issing argument")
    // The parser makes up "--png <png>"; the page says "--png FILE", or lists the values.
    text = text.replacing(/(--[a-z-]+) <[^>]*>/) { match in
      let word = line.command.page.split(separator: "\(match.1) ").dropFirst().first?.prefix {
        $0.isUppercase
      }
      return word.map { $0.isEmpty ? "\(match.1)" : "\(match.1) \($0)" } ?? "\(match.1)"
    }
    // The parser takes a value that begins with a hyphen for an option.
    if let option = text.wholeMatch(of: /Missing value for '(--[a-z-]+)( [A-Z]+)?'/)?.1,
      let value = line.rest.drop(while: { $0 != option }).dropFirst().first, value.hasPrefix("-")
    {
      return Int(value) == nil
        ? "\(option) takes no '\(value)'; if that is its value: \(option)=\(value)"
        : "\(option) must not be negative: '\(value)'"
    }
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  private static func commandLine(_ command: any HelpPage.Type, _ root: any CommandGroup.Type) -> String {
    guard command != root, let path = path(to: command, from: root) else { return "coffer" }
    return "coffer \(path)"
  }

  private static func path(to command: any HelpPage.Type, from root: any HelpPage.Type) -> String? {
    for case let next as any HelpPage.Type in root.configuration.subcommands {
      if next == command { return next._commandName }
      if let rest = path(to: command, from: next) { return "\(next._commandName) \(rest)" }
    }
    return nil
  }
}
