// SPDX-License-Identifier: Apache-2.0
//
// Output. Content goes to standard output, everything else to standard error. Content of a message is untrusted, so
// lines are `ShownLine`s.
//
// Output that cannot be written does not stop a command half-way: the rest of it is dropped, and the end of the run
// reports that. A remark that cannot be written is lost.

internal import CSystem
internal import Glibc
internal import Secrets
internal import Synchronization
internal import Texts

enum Terminal {
  static var isOutputTerminal: Bool { CommandSurroundings.current.isOutputTerminal }
  static var isErrorTerminal: Bool { CommandSurroundings.current.isErrorTerminal }

  /// Columns of standard output; 100 if it is not a terminal.
  static var columns: Int { columns(of: streams.output) }

  /// The same of standard error.
  static var errorColumns: Int { columns(of: streams.error) }

  /// Output that is not written yet, and what became of the rest, belong to the run.
  private static var run: CommandRun { .current }
  private static var streams: RunEnvironment.Streams { run.environment.streams }

  private static func columns(of descriptor: Int32) -> Int { knownColumns(of: descriptor) ?? 100 }

  /// A remark for the terminal that the user types on, broken between words.
  static func filled(_ remark: String) -> String {
    FilledText.rows(remark, columns: columns(of: streams.input)).joined(separator: "\n")
  }

  /// Nil off a terminal, and of one that does not say.
  private static func knownColumns(of descriptor: Int32) -> Int? {
    let columns = Int(coffer_terminal_columns(descriptor))
    return columns > 0 ? max(columns, leastColumns) : nil
  }

  /// Numbers, ends of ids and some letters of a title need as many; a narrower terminal breaks rows.
  private static let leastColumns = 20

  /// Whether colours are welcome on a descriptor.
  static func wantsColour(_ isTerminal: Bool) -> Bool {
    isTerminal && CommandSurroundings.current.showsColours && variable("NO_COLOR").isEmpty && !isDumb
  }

  /// Whether the terminal knows no escape sequences.
  static var isDumb: Bool { ["", "dumb"].contains(variable("TERM")) }

  private static func variable(_ name: String) -> String {
    run.environment.variable(name) ?? ""
  }

  // MARK: Standard output

  /// Writes a line to standard output. On a pipe, lines are collected until ``flush()``.
  static func print(_ line: ShownLine = "") { collect(line.text.utf8) }

  /// Writes a row with a name, broken between words on a terminal.
  /// - Parameter column: where the text after the name begins, and goes on below.
  static func print(_ line: ShownLine, textAt column: Int) {
    for row in rows(of: line, streams.output, start: column, indent: column) { print(row) }
  }

  /// The rows of a line on a terminal.
  private static func rows(
    of line: ShownLine, _ descriptor: Int32, start: Int, indent: Int
  ) -> [ShownLine] {
    guard let columns = knownColumns(of: descriptor) else { return [line] }
    let rows = FilledText.rows(
      line.text, columns: columns, start: start, indent: indent, width: ColumnWidth.ofShown)
    // Rows of a line of ours are ours.
    return rows.map(ShownLine.init(stringLiteral:))
  }

  /// Writes a line of bytes that are fit to be shown.
  static func print(line: [UInt8]) { collect(line) }

  /// Writes text of several lines to standard output, fit for a terminal.
  static func print(lines text: String) { collect(TerminalText.lines(text).utf8) }

  private static func collect(_ text: some Collection<UInt8>) {
    let isFull = run.lines.withLock { lines in
      lines += text
      lines.append(0x0A)
      return lines.count >= linesByteLimit
    }
    if isFull || isOutputTerminal { flush() }
  }

  /// Writes the lines that were collected.
  static func flush() {
    let collected = run.lines.withLock { lines in
      defer { lines.removeAll(keepingCapacity: true) }
      return lines
    }
    writeOut(collected.rawSpan)
  }

  /// Writes bytes to standard output without copying them, after the collected lines.
  static func write(_ bytes: RawSpan) {
    flush()
    writeOut(bytes)
  }

  /// A long list would otherwise spend more time in write(2) than in decryption.
  private static let linesByteLimit = 1 << 16

  private static func writeOut(_ bytes: RawSpan) {
    let run = run
    guard !isOutputLost, !run.paging.withLock({ $0?.take(bytes) ?? false }) else { return }
    let code = writeAll(bytes, to: run.environment.streams.output)
    if code != 0 { run.lostOutput.withLock { $0 = code } }
  }

  // MARK: The pager

  /// From here, output that is longer than the screen goes through the pager. Does nothing off a terminal.
  static func beginPaging(_ context: CommandContext) { beginPaging(mayPage: context.mayPage) }

  static func beginPaging(mayPage: Bool) {
    guard mayPage, isOutputTerminal, !isDumb else { return }
    flush()
    let rows = Int(coffer_terminal_rows(streams.output))
    guard rows > 2 else { return }
    run.paging.withLock { $0 = $0 ?? PagedOutput(rowCount: rows, columnCount: columns) }
  }

  /// Waits until the user leaves the pager; shows what did not need one.
  static func endPaging() {
    flush()
    // Taken out first: what was held back is to be written now.
    guard let output = run.paging.withLock({ $0.take() }) else { return }
    output.end()
    writeOut(output.held.rawSpan)
  }

  /// Whether the user has left the pager before the end of the output, which is not a failure.
  static var hasLeftPager: Bool { run.paging.withLock { $0?.isLeft ?? false } }

  // MARK: What could not be written

  /// Whether output can no longer be written, or nobody wants more of it. A command that changes nothing may then stop.
  static var isOutputLost: Bool { run.lostOutput.withLock { $0 } != 0 || hasLeftPager }

  /// Why a part of the output could not be written; nil when all of it was written. Call this last.
  static func outputFailure() -> Failure? {
    flush()
    let run = run
    switch run.lostOutput.withLock({ $0 }) {
    case 0: return nil
    case ENOSPC, EDQUOT:
      return Failure(.noRoom, "full", "the output cannot be written: the disk is full", hint: answerHint)
    case EPIPE:
      // The reader has closed the pipe. Ends as if SIGPIPE had not been blocked.
      if run.environment.ownsProcess {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
      }
      return Failure(.missing, "no_output", "nobody reads the output", hint: answerHint)
    case EBADF:
      return Failure(
        .missing, "no_output", "the output cannot be written: standard output is closed", hint: answerHint)
    default: return Failure(.missing, "no_output", "the output cannot be written", hint: answerHint)
    }
  }

  private static let answerHint = "the command's changes were made; only its output is lost"

  // MARK: Standard error

  /// Writes a line to standard error, broken between words on a terminal.
  static func remark(_ line: ShownLine) {
    let blanks = line.text.prefix { $0 == " " }.count
    // An indented row may have a command before its text, which goes on below itself.
    let column = blanks > 0 ? HelpText.column(of: line.text) : nil
    let rows = rows(
      of: line, streams.error, start: column ?? blanks, indent: column ?? blanks + hangingIndent)
    for row in rows { remark(whole: row) }
  }

  private static let hangingIndent = 2

  /// Writes a line that is not broken: a program may read it, or it is the edge of something.
  static func remark(whole line: ShownLine) { writeError(line.text + "\n") }

  /// Writes text of several lines to standard error, fit for a terminal.
  static func remark(lines text: String) { writeError(TerminalText.lines(text) + "\n") }

  /// Writes a sequence of our own to standard error, without a line end.
  static func writeError(_ text: String) {
    // Earlier output comes first.
    flush()
    _ = writeAll(Array(text.utf8).rawSpan, to: streams.error)
  }

  // MARK: Descriptors

  /// Writes all bytes to a descriptor; 0, or the system's reason why not.
  static func writeAll(_ bytes: RawSpan, to descriptor: Int32) -> Int32 {
    CommandSurroundings.current.write(bytes, to: descriptor)
  }
}
