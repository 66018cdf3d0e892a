// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CSystem
internal import Clipboards
internal import CofferKit
internal import Glibc
internal import MessageFormats
internal import Primitives
internal import Secrets
internal import Texts
internal import Vaults

struct MessageCopyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy the text of a message to the clipboard.")
  static let page = """
    coffer message copy: copy the text of a message to the clipboard

    usage: coffer message copy WHICH [--clear-after TIME]
                               \(OpeningOptions.usage)

    For a mail it is the text of its parts. A line end at the very end is left out. It goes to the desktop by
    wl-copy, xclip or xsel, and is taken back after 45 seconds, unless you have copied something else. Where
    there is no desktop, as over ssh, it goes through the terminal (OSC 52) to the machine in front of you;
    then the command waits, and Control-C clears at once. Some terminals pass nothing on unless you permit
    it; tmux: 'set -g allow-passthrough on'. A clipboard manager may keep what was copied.

      --clear-after TIME   seconds, or a time such as 2m; 0: it stays

    example: coffer message copy @1 --clear-after 20
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Option(help: "Take it back after so long; 0 for never.") var clearAfter: String?
  @Argument(help: "The message: its id, the end of it, @N or its title.", completion: Completions.messages)
  var which: String

  func validate() throws {
    guard let clearAfter else { return }
    guard let seconds = Duration.seconds(clearAfter), seconds <= Self.longestSeconds else {
      throw ValidationError(
        "--clear-after takes seconds, 0 to \(Self.longestSeconds), or a time such as 2m: '\(clearAfter)'")
    }
  }

  private static let longestSeconds = 86_400
  private static let ordinarySeconds = 45

  /// Where the text went.
  private enum Place: String, Encodable {
    case wayland, x11, terminal
  }

  private struct Answer: Encodable {
    let id: String
    let clipboard: Place
    let byteCount: Int
    /// Absent when it stays.
    let clearsAfterSeconds: Int?
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let id = try MessageChoice.id(which, coffer, context)
    try coffer.vault.withMessage(id) { metadata, content in
      guard var text = MessageText.of(metadata, content) else {
        throw Failure(
          .refused, "not_text", "the content is not text",
          hint: "'coffer message show --raw' writes it to a file")
      }
      let endsLine = text.withBytes { bytes in
        unsafe bytes.byteCount > 0
          && bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self) == 0x0A
      }
      if endsLine { text.shorten(to: text.count - 1) }
      guard text.count > 0 else { throw Failure(.refused, "not_text", "the message has no text to copy") }
      if !text.withBytes(Self.isFit) {
        context.remark("The text has control characters: look at it before you paste it into a terminal.")
      }
      let seconds = clearAfter.flatMap(Duration.seconds) ?? Self.ordinarySeconds
      let byteCount = text.count
      try text.withBytes { bytes in
        try copy(bytes, forSeconds: seconds == 0 ? nil : seconds, context) { place in
          guard context.isJSON else { return }
          JSON.print(
            Answer(
              id: id.description, clipboard: place, byteCount: byteCount,
              clearsAfterSeconds: seconds == 0 ? nil : seconds))
        }
      }
    }
  }

  /// Whether a shell that it is pasted into takes it for text.
  private static func isFit(_ text: RawSpan) -> Bool {
    TerminalText.isFit(unsafe text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
  }

  /// - Parameter tell: is called once the text is there.
  private func copy(
    _ text: RawSpan, forSeconds seconds: Int?, _ context: CommandContext, _ tell: (Place) -> Void
  ) throws {
    let environment = CommandRun.current.environment
    var failure = ClipboardError.noTerminal
    for tool in ClipboardTool.installed(environment.variable) {
      do throws(ClipboardError) {
        try tool.hold(
          text, forSeconds: seconds, variables: environment.variables, executable: environment.executable)
      } catch {
        failure = error
        continue
      }
      tell(tool.kind == .wlCopy ? .wayland : .x11)
      let end: ShownLine = seconds.map { "\(Duration.text($0)) from now it is cleared" } ?? "it stays there"
      return context.remark("On the clipboard; \(end).")
    }
    let terminal: TerminalClipboard
    do throws(ClipboardError) {
      terminal = try TerminalClipboard(environment.terminal, environment.variable)
    } catch { throw failure }
    try copy(text, to: terminal, forSeconds: seconds, context, tell)
  }

  /// The terminal cannot be told to forget later, so this waits until it is time.
  private func copy(
    _ text: RawSpan, to terminal: borrowing TerminalClipboard, forSeconds seconds: Int?,
    _ context: CommandContext, _ tell: (Place) -> Void
  ) throws {
    if seconds != nil { Interruption.catchOnce() }
    do throws(ClipboardError) { try terminal.put(text) } catch {
      if seconds != nil { terminal.clear() }
      throw error
    }
    tell(.terminal)
    Terminal.flush()
    let sent: ShownLine = "Sent to the terminal, which may put it on its clipboard"
    guard let seconds else { return context.remark("\(sent); it stays there.") }
    context.remark("\(sent); \(Duration.text(seconds)) from now it is cleared, or at once by Control-C.")
    Self.wait(seconds, isCounted: !context.isQuiet && !context.isJSON)
    terminal.clear()
    context.remark("Cleared.")
  }

  /// Waits so many seconds, time asleep included, or until a signal comes.
  private static func wait(_ seconds: Int, isCounted: Bool) {
    let end = secondsSinceStart + seconds
    while !Interruption.isRequested {
      let left = end - secondsSinceStart
      if left <= 0 { break }
      if isCounted, Terminal.isErrorTerminal { Terminal.writeError("\r\u{1B}[K\(left) s") }
      Interruption.wait(milliseconds: 1_000)
    }
    if isCounted, Terminal.isErrorTerminal { Terminal.writeError("\r\u{1B}[K") }
  }

  private static var secondsSinceStart: Int { Int(coffer_boot_time() / 1_000_000_000) }
}
