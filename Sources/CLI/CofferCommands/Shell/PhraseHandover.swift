// SPDX-License-Identifier: Apache-2.0
//
// Gives a new recovery phrase to the user: on the terminal, where three of the words are asked for again, or in a new
// file. The words go from locked memory directly to the descriptor.

internal import Glibc
internal import Keychains
internal import Primitives
internal import Secrets
internal import Storage
internal import UserAuthentication

struct PhraseHandover {
  private let context: CommandContext

  private static let askedCount = 3

  init(_ context: CommandContext) { self.context = context }

  /// Makes a phrase and returns it once the user has it: in a new file, or else from the terminal.
  func makePhrase(file: String?) throws -> RecoveryPhrase {
    let phrase = RecoveryPhrase(
      entropy: SystemRandom.secretBytes(count: RecoveryPhrase.entropyByteCount))
    if let file { try write(phrase, to: file) } else { try showAndAsk(phrase) }
    return phrase
  }

  /// Writes the phrase to a new file of mode 0600 and syncs it.
  /// - Throws: `StorageError.full`; a failure when the file already exists.
  func write(_ phrase: borrowing RecoveryPhrase, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      switch errno {
      case EEXIST:
        throw Failure(.inUse, "already_exists", "the file for the recovery phrase already exists")
      case ENOSPC, EDQUOT: throw StorageError.full
      default: throw Failure.usage("the file for the recovery phrase cannot be created")
      }
    }
    defer { close(descriptor) }
    var code = phrase.withWords { Terminal.writeAll($0, to: descriptor) }
    if code == 0 { code = Terminal.writeAll([UInt8(ascii: "\n")].rawSpan, to: descriptor) }
    if code == 0, fsync(descriptor) != 0 { code = errno }
    guard code == 0 else {
      unsafe unlink(path)
      if code == ENOSPC || code == EDQUOT { throw StorageError.full }
      throw Failure(
        .corrupt, "input_output", "the recovery phrase cannot be written: the disk reports an error")
    }
  }

  /// Shows the words and asks for three of them until they are right.
  /// - Throws: `PromptError.cancelled` when the user gives up.
  func showAndAsk(_ phrase: borrowing RecoveryPhrase) throws {
    let terminal = try context.terminal()
    var problem: String?
    while true {
      // The words leave the screen before they are asked for.
      guard try show(phrase, problem, terminal) else {
        problem = "Write them down on paper; without them, everything is lost if you forget the passphrase."
        continue
      }
      if try ask(phrase, terminal) { return }
      problem = "That was not the right word. Here they are again."
    }
  }

  private func show(
    _ phrase: borrowing RecoveryPhrase, _ problem: String?, _ terminal: any PassphrasePrompt
  ) throws -> Bool {
    let screen = try SecondScreen(of: CommandRun.current.environment.promptTerminal)
    if let problem { try screen.write(Terminal.filled(problem) + "\n") }
    try screen.write("\nStore recovery phrase safely; we cannot reset it.\n\n")
    // Two columns fit 40.
    let columnCount = Terminal.columns < 60 ? 2 : 3
    let rowCount = RecoveryPhrase.wordCount / columnCount
    for row in 0..<rowCount {
      for column in 0..<columnCount {
        let position = row + rowCount * column
        let number = String(position + 1)
        try screen.write("\(number.count < 2 ? "    " : "   ")\(number). ")
        let word = phrase.word(at: position)
        try word.withBytes { (word) throws(PromptError) in try screen.write(word) }
        if column < columnCount - 1 {
          try screen.write(String(repeating: " ", count: max(0, 12 - word.count)))
        }
      }
      try screen.write("\n")
    }
    try screen.write("\n")
    try screen.write(Terminal.filled("Control-C gives up; nothing has been changed then.") + "\n\n")
    return try terminal.confirm("Have you written them down?")
  }

  private func ask(_ phrase: borrowing RecoveryPhrase, _ terminal: any PassphrasePrompt) throws -> Bool {
    // A typed word is part of the phrase too, so it must not stay on the screen.
    let screen = try SecondScreen(of: CommandRun.current.environment.promptTerminal)
    try screen.write("\n" + Terminal.filled("Type three of the words, to show that you have them.") + "\n\n")
    for position in Self.randomPositions() {
      let typed = try terminal.askLine("word \(position + 1)", isHidden: !screen.isForgotten)
      let word = phrase.word(at: position)
      guard typed.isEqual(to: word) else { return false }
    }
    return true
  }

  /// Three different places, in order.
  private static func randomPositions() -> [Int] {
    var positions: Set<Int> = []
    while positions.count < askedCount {
      for byte in SystemRandom.publicBytes(count: 8) where positions.count < askedCount {
        // 252 is a multiple of twelve, so every position is equally likely.
        if byte < 252 { positions.insert(Int(byte) % RecoveryPhrase.wordCount) }
      }
    }
    return positions.sorted()
  }
}
