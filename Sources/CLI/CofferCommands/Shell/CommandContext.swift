// SPDX-License-Identifier: Apache-2.0
//
// One run of a command: where the coffer is, how to ask and how to answer.

internal import Agent
internal import CofferKit
internal import Enclaves
internal import Foundation
internal import Keychains
internal import Primitives
internal import Secrets
internal import Storage
internal import UserAuthentication
internal import Vaults

struct CommandContext {
  let home: String
  /// Whether `--home` named it.
  let isHomeChosen: Bool
  let isJSON: Bool
  let isQuiet: Bool
  /// Whether output that is longer than the screen may go through the pager.
  let mayPage: Bool
  let machine: Machine
  /// Whether the coffer is opened to accept an older state as the current one.
  var acceptsEarlierState = false
  /// Whether the user is told that a rotation is due or not finished: not by the command that does that.
  var namesRotation = true
  /// What the passphrase or PIN is asked for, if it is not for opening alone: "to read a message for Ada".
  var purpose: String?
  /// A line of its own above the prompt: the subject of a commit that is to be signed.
  var detail: String?

  /// The coffers that the command has opened.
  private let opened = OpenedCoffers()

  /// How many times a prompt asks before it fails.
  static let promptTries = 3

  init(_ global: GlobalOptions) {
    home = global.homePath
    isHomeChosen = global.home != nil
    isJSON = global.json
    isQuiet = global.quiet
    mayPage = !global.noPager && !global.json
    machine = CommandSurroundings.current.machine()
  }

  // MARK: Opening

  /// How the coffer may be opened.
  enum Presence {
    /// An open session is enough.
    case session
    /// Requires fresh authentication. Used by commands that change who can open the coffer.
    case slot
  }

  func locked() throws -> LockedCoffer {
    try CommandSurroundings.current.locked(
      home: home, machine, acceptsEarlierState: acceptsEarlierState)
  }

  /// Opens the coffer with the options' passphrase, PIN or security key, else with the keys of its agent, else by asking.
  func open(_ options: OpeningOptions, needing presence: Presence = .session) throws -> Coffer {
    let locked = try locked()
    var opened = try given(options, locked)
    if opened == nil, presence == .session, let keys = AgentSession(locked).keys(.all) {
      opened = try handedOn(locked, keys)
      // The agent still has the key for captures, and somebody is asked now.
      if keys.whenUnlocked == nil, hasTerminal {
        remark("The session has ended. 'coffer unlock' begins one.")
      }
    }
    if let opened {
      advise(opened)
      return opened
    }
    return presence == .session ? try openForOneCommand(locked) : try openByPrompt(locked)
  }

  /// Opens the coffer by asking, for a command that a session would have opened, and offers one.
  private func openForOneCommand(_ locked: LockedCoffer) throws -> Coffer {
    let coffer = try openByPrompt(locked)
    try SessionBeginning.offer(coffer, self)
    return coffer
  }

  /// Opens the coffer for a command whose PIN is that of a new slot: with the options' passphrase, else by asking.
  /// - Parameter ways: what may be asked for.
  func openToAdd(
    _ options: PassphraseOptions, asking ways: [any SlotInterface.Type] = SlotInterfaces.all
  ) throws -> Coffer {
    let locked = try locked()
    guard let passphrase = try options.opening() else { return try openByPrompt(locked, ways) }
    let coffer = try PassphraseInterface.open(locked, passphrase)
    advise(coffer)
    return coffer
  }

  /// Opens the coffer with the keys of its agent, and asks nobody; nil without a session.
  func openInSession() throws -> Coffer? {
    guard let coffer = try handedOn(try locked()) else { return nil }
    advise(coffer)
    return coffer
  }

  /// Opens the coffer by asking.
  private func openByPrompt(
    _ locked: LockedCoffer, _ ways: [any SlotInterface.Type] = SlotInterfaces.all
  ) throws -> Coffer {
    for interface in ways.reversed() {
      guard let coffer = try interface.openByPrompt(locked, self) else { continue }
      advise(coffer)
      return coffer
    }
    throw PassphraseInterface.missing
  }

  /// Opens the coffer with a passphrase or a PIN from a descriptor or a file, or with the security key that the options
  /// name; nil when none is named.
  func given(_ options: OpeningOptions, _ locked: LockedCoffer) throws -> Coffer? {
    warn(ofOpenFiles: options.files)
    let pin = try options.pin.given()
    if options.securityKey { return try SecurityKeyInterface.open(locked, givenPIN: pin, self) }
    if let pin {
      for interface in SlotInterfaces.all {
        if let coffer = try interface.open(locked, pin: pin, self) { return coffer }
      }
      throw KeybagError.noSuchSlot
    }
    guard let passphrase = try options.passphrase.opening() else { return nil }
    return try PassphraseInterface.open(locked, passphrase)
  }

  /// Tells a terminal which files with a secret others can read. Not a script: its files may be meant so.
  func warn(ofOpenFiles files: [String]) {
    guard Terminal.isErrorTerminal else { return }
    for file in files where CommandSurroundings.current.files.isOpenToOthers(file) {
      remark("warning: others can read '\(file)': chmod 600 \(ShellWord.quoted(file))")
    }
  }

  /// Opens the coffer with the keys of its agent; nil when there is none, or it is locked.
  ///
  /// If the agent's keys do not match, the user is asked as if there were no agent. Other errors would occur with a
  /// passphrase too, and are thrown.
  /// - Throws: `VaultError.lockedAfterFailures` and other errors of opening.
  private func handedOn(_ locked: LockedCoffer) throws -> Coffer? {
    guard let keys = AgentSession(locked).keys(.all) else { return nil }
    return try handedOn(locked, keys)
  }

  private func handedOn(_ locked: LockedCoffer, _ keys: ClassKeys) throws -> Coffer? {
    guard keys.whenUnlocked != nil else { return nil }
    do { return try locked.unlock(keys) } catch is KeybagError { return nil }
  }

  /// Opens the coffer with the keys of its agent, and does not extend the session; nil when there is none.
  /// - Throws: errors of opening.
  func look(_ locked: LockedCoffer) throws -> Coffer? {
    guard let keys = AgentSession(locked).keys(.allForLook) else { return nil }
    return try handedOn(locked, keys)
  }

  /// Whether the coffer's agent has its keys.
  /// - Parameter isUsed: whether that extends the session, as a command does.
  func sessionGoesOn(isUsed: Bool) -> Bool {
    guard let locked = try? locked() else { return false }
    return AgentSession(locked).keys(isUsed ? .all : .allForLook)?.whenUnlocked != nil
  }

  /// Opens the captures.
  ///
  /// - Parameter whileLocked: whether the agent's after-first-unlock key is enough: to add captures, not to read
  ///   them.
  func captures(_ options: OpeningOptions, whileLocked: Bool = false) throws -> CaptureAccess {
    guard whileLocked else {
      return try open(options).captureAccess
    }
    let locked = try locked()
    if let coffer = try given(options, locked) {
      advise(coffer)
      return coffer.captureAccess
    }
    // Asks once for all keys, because an agent that hangs costs the full time limit each time.
    if let keys = AgentSession(locked).keys(.all) {
      if let coffer = try handedOn(locked, keys) {
        advise(coffer)
        return coffer.captureAccess
      }
      return try locked.captures(keys.locked())
    }
    return try openForOneCommand(locked).captureAccess
  }

  /// Brings the search index up to date after a command that has changed messages.
  func updateIndexes() {
    opened.tellUncounted(isJSON: isJSON)
    if !Interruption.isRequested { opened.updateIndexes(isQuiet: isQuiet, isJSON: isJSON) }
  }

  static func triesLeft(_ problem: String, _ attempt: Int) -> String {
    "\(problem); \((promptTries - attempt).counted("try", "tries")) left"
  }

  /// The warnings that a user should see whenever the coffer is opened; once, however often it is called.
  func advise(_ coffer: Coffer) {
    guard opened.append(coffer) else { return }
    // nil when the messages are damaged as a whole: commands that read them say so, and the rest can be used.
    guard let status = coffer.vault.lastStatus else { return }
    let isJSON = isJSON
    if status.unexaminedFailures > 0 { FailureWarning(status.unexaminedFailures).tell(isJSON: isJSON) }
    let surroundings = CommandSurroundings.current
    // The thread that reads calls it.
    coffer.listenForFailures { alarm, count in
      surroundings.here { FailureWarning(count, isLocked: alarm == .locked).tell(isJSON: isJSON) }
    }
    guard Terminal.isErrorTerminal, namesRotation else { return }
    if status.isRotating {
      remark("hint: a rotation was started and not finished: coffer vault rotate --resume")
    }
    if status.isRotationDue { remark("hint: the vault key is more than a year old: coffer vault rotate") }
  }

  /// Opens the coffer with the recovery phrase from a descriptor, a file, or a prompt.
  func open(_ options: PhraseOptions) throws -> Coffer {
    let locked = try locked()
    do {
      let coffer =
        if let given = try options.given() {
          try locked.unlock(SlotCredential(Self.phrase(given)))
        } else {
          try unlockByPhrasePrompt(locked)
        }
      advise(coffer)
      return coffer
    } catch KeybagError.wrongSecret {
      throw Failure(
        .wrongSecret, "wrong_secret", "wrong recovery phrase: the words are sound, but not of this coffer")
    }
  }

  private func unlockByPhrasePrompt(_ locked: LockedCoffer) throws -> Coffer {
    let prompt = try prompt(for: "the recovery phrase", hint: "use --phrase-fd or --phrase-file")
    guard prompt is TerminalPrompt else { return try unlock(locked, askingWith: prompt, isShown: false) }
    // All tries use the second screen, because wrong words are mostly right except for one.
    let screen = try SecondScreen(of: CommandRun.current.environment.promptTerminal)
    return try unlock(locked, askingWith: prompt, isShown: screen.isForgotten)
  }

  private func unlock(
    _ locked: LockedCoffer, askingWith prompt: any PassphrasePrompt, isShown: Bool
  ) throws -> Coffer {
    var failure: any Error = KeybagError.wrongSecret
    var problem: String?
    for attempt in 1...Self.promptTries {
      var asked = request("recovery phrase", problem: problem)
      asked.isShown = isShown
      do {
        return try locked.unlock(SlotCredential(Self.phrase(Passphrase(utf8: prompt.ask(asked)))))
      } catch KeybagError.wrongSecret {
        failure = KeybagError.wrongSecret
        problem = Self.triesLeft("these words do not open this coffer", attempt)
      } catch let error where error is RecoveryPhraseError || error is PassphraseError {
        failure = Failure(.wrongSecret, "bad_phrase", Failure(error).message)
        problem = Self.triesLeft(Failure(error).message, attempt)
      }
    }
    throw failure
  }

  static func phrase(_ typed: borrowing Passphrase) throws -> RecoveryPhrase {
    try typed.withBytes { words throws(RecoveryPhraseError) in try RecoveryPhrase(words: words) }
  }

  // MARK: Asking

  /// A question; a pinentry window also says which coffer it is about.
  func request(_ words: String, problem: String?) -> PromptRequest {
    let words = purpose.map { "\(words), \($0)" } ?? words
    let isPinentry = CommandSurroundings.current.pinentry != nil
    let lines = [isPinentry ? "To open the coffer in \(home)" : nil, detail].compactMap(\.self)
    return PromptRequest(
      words, description: lines.isEmpty ? nil : lines.joined(separator: "\n"), problem: problem)
  }

  /// pinentry when COFFER_PINENTRY names one, else the terminal.
  func prompt(
    for what: String = "a passphrase",
    hint: String = "use --passphrase-fd, --passphrase-file, or COFFER_PINENTRY"
  ) throws -> any PassphrasePrompt {
    if let program = CommandSurroundings.current.pinentry {
      return PinentryPrompt(program: program, variables: CommandRun.current.environment.variables)
    }
    guard let terminal = CommandSurroundings.current.terminal else {
      throw Failure(.locked, "no_prompt", "\(what) is needed and there is no terminal to ask on", hint: hint)
    }
    return terminal
  }

  var hasTerminal: Bool { CommandSurroundings.current.terminal != nil }

  func terminal() throws -> any PassphrasePrompt {
    guard let terminal = CommandSurroundings.current.terminal else { throw PromptError.noTerminal }
    return terminal
  }

  /// Requires a terminal: new words are shown there and asked for again, which pinentry cannot do.
  func requireTerminalForWords() throws {
    guard hasTerminal else {
      throw Failure(
        .locked, "no_prompt", "there is no terminal to show the recovery phrase on",
        hint: "use --recovery-phrase-out FILE")
    }
  }

  /// A new passphrase: given, or asked for twice, with a strength meter. A generated one is offered first.
  ///
  /// - Parameter option: the common beginning of the options that give it, for the hint.
  func newPassphrase(
    _ given: consuming Passphrase?, policy: PassphrasePolicy, option: String = "--new-passphrase"
  ) throws -> Passphrase {
    if let given {
      let assessment = policy.check(given)
      guard assessment.isAccepted else { throw CofferError.weakPassphrase(assessment.problems) }
      return given
    }
    let prompt = try prompt(
      for: "a new passphrase", hint: "use \(option)-fd, \(option)-file, or COFFER_PINENTRY")
    if let offered = try offerGenerated(prompt) { return offered }
    var problem: String?
    for _ in 1...Self.newSecretTries {
      let typed = try prompt.ask(
        PromptRequest(
          "new passphrase", description: problem == nil ? policy.sentence : nil, problem: problem,
          meter: Self.meter(policy)))
      let first: Passphrase
      do { first = try Passphrase(utf8: typed) } catch {
        problem = Failure(error).message
        continue
      }
      let assessment = policy.check(first)
      guard assessment.isAccepted else {
        problem = assessment.problems.map(\.description).joined(separator: "\n")
        continue
      }
      let again = try prompt.ask(PromptRequest("the same once more"))
      if let second = try? Passphrase(utf8: again), first.isEqual(to: second) { return first }
      problem = "these were not the same"
    }
    throw notConfirmed("passphrase")
  }

  /// Enough for you; a program that answers in your place would go on for ever.
  private static let newSecretTries = 20

  /// A new PIN: given, or asked for twice.
  ///
  /// - Parameter option: the common beginning of the options that give it, for the hint.
  func newPIN(
    _ given: SharedSecretBytes?, words: String = "new PIN", option: String = "--pin"
  ) throws -> SharedSecretBytes {
    if let given { return given }
    let prompt = try prompt(
      for: "a new PIN", hint: "use \(option)-fd, \(option)-file, or COFFER_PINENTRY")
    var problem: String?
    for _ in 1...Self.newSecretTries {
      let first = try prompt.ask(
        PromptRequest(words, problem: problem, byteCountLimit: PINPolicy.longest))
      if let found = first.withBytes({ PINPolicy.problem(with: $0) }) {
        problem = found.description
        continue
      }
      let again = try prompt.ask(PromptRequest("the same once more", byteCountLimit: PINPolicy.longest))
      if first.isEqual(to: again) { return SharedSecretBytes(try Passphrase(utf8: first)) }
      problem = "these were not the same"
    }
    throw notConfirmed("PIN")
  }

  private func notConfirmed(_ what: String) -> Failure {
    Failure(.refused, "not_confirmed", "no new \(what) was given in \(Self.newSecretTries) tries")
  }

  /// Shows a generated passphrase on the terminal, and asks for it once it has left the screen; nil when the user
  /// prefers another one.
  private func offerGenerated(_ prompt: any PassphrasePrompt) throws -> Passphrase? {
    guard prompt is TerminalPrompt else { return nil }
    let generated = try Passphrase(utf8: PassphraseGenerator.generate(random: SystemRandom.fill))
    var problem = ""
    for _ in 1...Self.newSecretTries {
      guard try show(generated, problem, prompt) else { return nil }
      let typed = try prompt.ask(PromptRequest("the passphrase, to show that you have it"))
      if let typed = try? Passphrase(utf8: typed), typed.isEqual(to: generated) { return generated }
      problem = "That was not the passphrase. Here it is again.\n\n"
    }
    throw notConfirmed("passphrase")
  }

  /// Shows a generated passphrase until the question is answered: whether it is taken.
  private func show(
    _ generated: borrowing Passphrase, _ problem: String, _ prompt: any PassphrasePrompt
  ) throws -> Bool {
    let screen = try SecondScreen(of: CommandRun.current.environment.promptTerminal)
    try screen.write("\(problem)A passphrase made for you:\n\n    ")
    try generated.withBytes { (passphrase) throws(PromptError) in try screen.write(passphrase) }
    try screen.write("\n\n")
    return try wantsGenerated(prompt)
  }

  /// An empty line is neither answer: one wipes what was just written down, the other takes what was not.
  private func wantsGenerated(_ prompt: any PassphrasePrompt) throws -> Bool {
    var problem: String?
    while true {
      let typed = try prompt.ask(
        PromptRequest(
          "Write it down. Use it? y, or n to choose your own", answers: ["yes", "no"], problem: problem))
      switch typed.withBytes({ String(decoding: [UInt8](copying: $0), as: UTF8.self) }).lowercased() {
      case "y", "yes": return true
      case "n", "no": return false
      default: problem = "answer y or n"
      }
    }
  }

  /// How strong the passphrase is so far, and what the policy still misses.
  static func meter(_ policy: PassphrasePolicy) -> PromptRequest.Meter {
    { typed in
      let judged = policy.check(typed: typed)
      let word =
        switch judged.strength {
        case .weak: "weak"
        case .medium: "medium"
        case .strong: "strong"
        }
      // Green only for what is accepted.
      let level: StrengthReading.Level =
        switch judged.strength {
        case .weak: .weak
        case .medium: .medium
        case .strong: judged.isAccepted ? .strong : .medium
        }
      return StrengthReading(level, word: word, missing: judged.missing)
    }
  }

  /// Asks a yes-or-no question.
  func confirm(_ question: String) throws -> Bool { try terminal().confirm(question) }

  // MARK: Answering

  /// A remark for users, on standard error; nothing with --json, where standard error is for errors.
  func remark(_ line: ShownLine) {
    if !isQuiet && !isJSON { Terminal.remark(line) }
  }

  /// Says that a command waits for what you type, which would look as if it hung.
  /// - Parameters:
  ///   - file: the argument; `-` for standard input.
  ///   - what: such as "the message".
  func remarkTyping(_ file: String, _ what: String) {
    guard file == "-", CommandSurroundings.current.isInputTerminal else { return }
    remark("Type or paste \(what), then Return and Control-D.")
  }
}

extension PassphraseAssessment {
  /// What has to be typed yet, in few words, such as "4 more" and "a digit".
  fileprivate var missing: [String] {
    let missing = problems.compactMap { problem -> String? in
      switch problem {
      case .tooShort(let minimum, let found): "\(minimum - found) more"
      case .noUppercaseLetter: "upper case"
      case .noLowercaseLetter: "lower case"
      case .noDigit: "a digit"
      case .noSymbol: "a symbol"
      case .common, .tooGuessable: nil
      }
    }
    // Of a beginning this would say nothing.
    return missing.isEmpty && !isAccepted ? ["something harder to guess"] : missing
  }
}

extension PassphrasePolicy {
  /// The rules, before they are broken.
  fileprivate var sentence: String {
    switch self {
    case .standard: "At least 12 characters, with upper and lower case and a digit."
    case .strict: "At least 12 characters, with upper and lower case, a digit and a symbol."
    case .long: "At least 15 characters that are hard to guess: four random words, for example."
    }
  }
}
