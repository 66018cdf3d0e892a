// SPDX-License-Identifier: Apache-2.0
//
// Asks on the terminal itself, whatever standard input and output are connected to. Typed text is hidden
// unless the request says otherwise; the terminal is restored on every way out.

internal import Glibc
public import Secrets
internal import Synchronization
internal import Texts

/// Prompts on a terminal, mostly the controlling one.
public struct TerminalPrompt: PassphrasePrompt {
  private let path: String
  private let style: TerminalStyle

  /// Asks on a terminal.
  public init(on terminal: PromptTerminal) { self.init(path: terminal.path, style: terminal.style) }

  /// Asks on the terminal at `path`: for tests.
  init(path: String, style: TerminalStyle) {
    self.path = path
    self.style = style
  }

  /// Whether there is a terminal to ask on.
  public var isAvailable: Bool {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return isatty(descriptor) == 1
  }

  /// Asks for one line. Backspace, Control-U and Control-W edit; Control-C, and Control-D on an empty
  /// line, cancel.
  public func ask(_ request: PromptRequest) throws(PromptError) -> SecretBytes {
    try Self.alone { () throws(PromptError) -> SecretBytes in
      var terminal = try RawTerminal(path: path)
      for text in [request.problem, request.description].compactMap(\.self) {
        try write(Self.rows(text, columns: terminal.columnCount()), to: terminal)
      }
      // The last row of a long question is the one that is drawn again.
      var rows = Self.rows(
        request.prompt + request.ending, columns: terminal.columnCount() - Self.answerColumns)
      var request = request
      (request.prompt, request.ending) = (rows.removeLast(), "")
      try write(rows, to: terminal)
      return try readLine(request, from: &terminal)
    }
  }

  /// Room for a letter after a question, and for the cursor.
  private static let answerColumns = 2

  /// Lines in the width of the terminal, broken between words.
  private static func rows(_ text: String, columns: Int) -> [String] {
    TerminalText.lines(text).split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { FilledText.rows(String($0), columns: columns) }
  }

  private func write(_ rows: [String], to terminal: borrowing RawTerminal) throws(PromptError) {
    for row in rows { try terminal.write(row + "\n") }
  }

  /// Asks `question`; `y` or `yes`, in either case, is yes; `n`, `no` and an empty line mean no. After anything else
  /// it asks again; five such answers mean no.
  public func confirm(_ question: String) throws(PromptError) -> Bool {
    try confirm(question, isYesByDefault: false)
  }

  /// The same.
  /// - Parameter isYesByDefault: whether an empty line is yes too.
  public func confirm(_ question: String, isYesByDefault: Bool) throws(PromptError) -> Bool {
    var problem: String?
    for _ in 1...Self.confirmationTries {
      var request = PromptRequest(
        question + (isYesByDefault ? " [Y/n]" : " [y/N]"), answers: ["yes", "no"], problem: problem)
      request.byteCountLimit = confirmationByteCountLimit
      do throws(PromptError) {
        let answer = try ask(request)
        if answer.count == 0 { return isYesByDefault }
        if answer.withBytes({ isWord($0, "y") || isWord($0, "yes") }) { return true }
        if answer.withBytes({ isWord($0, "n") || isWord($0, "no") }) { return false }
      } catch {
        guard case .tooLong = error else { throw error }
      }
      problem = "answer y or n"
    }
    return false
  }

  /// A program that answers in your place would go on for ever.
  private static let confirmationTries = 5

  /// Runs `body` while nobody else of this process holds a terminal: two at once would take each other's
  /// keys and restore each other's settings.
  static func alone<R: ~Copyable>(_ body: () throws(PromptError) -> R) throws(PromptError) -> R {
    try turn.withLock { (_) throws(PromptError) -> R in try body() }
  }

  // MARK: The loop

  private func readLine(
    _ request: PromptRequest, from terminal: inout RawTerminal
  ) throws(PromptError) -> SecretBytes {
    var editor = LineEditor(byteCountLimit: request.byteCountLimit)
    try draw(request, editor, on: terminal)
    while true {
      let outcome: LineEditor.Outcome
      switch try terminal.nextEvent() {
      case .byte(let byte): outcome = editor.take(byte)
      case .resumed, .woken: outcome = .changed
      case .closed: throw .noTerminal
      }
      switch outcome {
      case .changed:
        // During a paste only the last key is drawn, against flicker.
        if !terminal.hasInput() { try draw(request, editor, on: terminal) }
      case .unchanged: break
      case .ignored: try terminal.write("\u{7}")
      case .finished:
        try terminal.write("\n")
        return editor.finish()
      case .cancelled:
        try terminal.write("\n")
        throw .cancelled
      case .tooLong:
        try skipLine(from: &terminal)
        throw .tooLong(byteCountLimit: request.byteCountLimit)
      }
    }
  }

  /// The rest of a line that is too long must not answer the next question.
  private func skipLine(from terminal: inout RawTerminal) throws(PromptError) {
    var editor = LineEditor(byteCountLimit: 1)
    while true {
      switch try terminal.nextEvent() {
      case .byte(let byte):
        let outcome = editor.take(byte)
        guard outcome == .finished || outcome == .cancelled else { continue }
        try terminal.write("\n")
        if outcome == .cancelled { throw .cancelled }
        return
      case .resumed, .woken: continue
      case .closed: throw .noTerminal
      }
    }
  }

  /// Draws the row again: prompt, the meter's word, and the end of a visible answer, as much as fits.
  private func draw(
    _ request: PromptRequest, _ editor: borrowing LineEditor, on terminal: borrowing RawTerminal
  ) throws(PromptError) {
    let columns = terminal.columnCount()
    var row = style.clearedRow(columnCount: columns)
    row += TerminalText.line(request.prompt + request.ending)
    var width = (request.prompt + request.ending).unicodeScalars.count
    if let meter = request.meter {
      let reading = editor.withText { $0.isEmpty ? nil : meter($0) }
      if let reading {
        row += style.coloured("[\(reading.word)] ", as: reading.level)
        width += reading.word.unicodeScalars.count + 3
        let need = reading.need(columnCount: columns - width - 1)
        row += TerminalText.line(need)
        width += need.unicodeScalars.count
      }
    }
    try terminal.write(row)
    guard request.isShown, editor.withText({ Self.mayBe(request.answers, $0) }) else { return }
    // One column stays free, or the cursor would start a second row that is never cleared.
    let room = max(columns - width - 1, 1)
    try editor.withText { (text) throws(PromptError) in
      try terminal.write(shown: text.extracting(tailStart(of: text, scalarCount: room)..<text.byteCount))
    }
  }

  /// Whether `text` is the beginning of one of the answers, in either case.
  private static func mayBe(_ answers: [String], _ text: RawSpan) -> Bool {
    answers.isEmpty
      || answers.contains { answer in
        answer.utf8.count >= text.byteCount
          && answer.utf8.prefix(text.byteCount).enumerated().allSatisfy { offset, letter in
            unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) | 0x20 == letter
          }
      }
  }

  /// Where the last `scalarCount` characters of `text` begin; characters count as one column each.
  private func tailStart(of text: RawSpan, scalarCount: Int) -> Int {
    var start = text.byteCount
    var left = scalarCount
    while start > 0 && left > 0 {
      start -= 1
      if unsafe text.unsafeLoad(fromByteOffset: start, as: UInt8.self) & 0xC0 != 0x80 { left -= 1 }
    }
    return start
  }

  private func isWord(_ bytes: RawSpan, _ word: StaticString) -> Bool {
    guard bytes.byteCount == word.utf8CodeUnitCount else { return false }
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      guard unsafe byte | 0x20 == word.utf8Start[offset] else { return false }
    }
    return true
  }
}

private let turn = Mutex<Void>(())

/// "yes" and room for second thoughts.
private let confirmationByteCountLimit = 16
