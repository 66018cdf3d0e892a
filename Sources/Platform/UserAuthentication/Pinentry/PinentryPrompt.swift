// SPDX-License-Identifier: Apache-2.0
//
// Asking through a pinentry program, which draws the window. We speak the Assuan protocol with it as its
// manual has it; the answer goes from the socket into locked memory and is decoded there.

internal import Glibc
public import Secrets
internal import Texts

/// How long to wait for a pinentry program. A program that hangs must not hang the command, nor the program
/// that started the command.
struct PinentryPatience: Sendable {
  /// For answers that the program gives by itself; enough for a slow desktop.
  var programLimit: Duration = .seconds(30)
  /// For the user to type, and to look something up.
  var answerLimit: Duration = .seconds(300)

  var endForProgram: ContinuousClock.Instant { ContinuousClock.now.advanced(by: programLimit) }
  var endForAnswer: ContinuousClock.Instant { ContinuousClock.now.advanced(by: answerLimit) }
}

/// Prompts with a pinentry program (`pinentry`, `pinentry-gnome3`, `pinentry-curses`, …).
public struct PinentryPrompt: PassphrasePrompt {
  private let program: String
  private let title: String
  private let variables: [String: String]
  private let patience: PinentryPatience

  /// - Parameters:
  ///   - program: a path, or a name that is looked up in `PATH`.
  ///   - title: of the window.
  ///   - variables: its environment.
  public init(program: String, title: String = "Coffer", variables: [String: String]) {
    self.init(program: program, title: title, variables: variables, patience: PinentryPatience())
  }

  init(
    program: String, title: String = "Coffer", variables: [String: String], patience: PinentryPatience
  ) {
    self.program = program
    self.title = title
    self.variables = variables
    self.patience = patience
  }

  /// Asks for one line; pinentry never shows it and has no meter.
  /// - Throws: ``PromptError`` `.cancelled`, `.promptProgramMissing`, `.promptProgramFailed`, `.timedOut`
  ///   (five minutes without an answer) or `.tooLong`.
  public func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes {
    var conversation = try begin()
    // A pinentry may draw on a terminal.
    if let text = request.description { try conversation.command("SETDESC", TerminalText.lines(text)) }
    if let text = request.problem { try conversation.command("SETERROR", TerminalText.lines(text)) }
    try conversation.command("SETPROMPT", TerminalText.line(request.prompt))
    let answer = try conversation.getPIN(byteCountLimit: request.byteCountLimit)
    conversation.end()
    return answer
  }

  /// Shows `question` with two buttons.
  public func confirm(_ question: String) throws(PromptError) -> Bool {
    var conversation = try begin()
    try conversation.command("SETDESC", TerminalText.lines(question))
    let answer = try conversation.confirm()
    conversation.end()
    return answer
  }

  private func begin() throws(PromptError) -> AssuanConversation {
    var conversation = try AssuanConversation.begin(program: program, variables, patience: patience)
    for (name, value) in options() { try conversation.option(name, value) }
    try conversation.command("SETTITLE", title)
    return conversation
  }

  /// The terminal that a pinentry may draw on, and its character encoding.
  private func options() -> [(name: String, value: String)] {
    let terminal = variable("GPG_TTY") ?? Self.terminalName()
    let characters = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG")
    return [("ttyname", terminal), ("ttytype", variable("TERM")), ("lc-ctype", characters)]
      .compactMap { name, value in value.map { (name, $0) } }
  }

  private func variable(_ name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The terminal on a standard descriptor, if there is one.
  private static func terminalName() -> String? {
    for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO] {
      if let name = unsafe ttyname(descriptor) { return unsafe String(cString: name) }
    }
    return nil
  }
}
