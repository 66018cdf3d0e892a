// SPDX-License-Identifier: Apache-2.0
//
// The composition of the tutorial: a coffer in memory, a machine with the tutorial's enclave and a pretended
// security key, files in memory, prompts that the tutorial hears, and the screen. No value in it leads anywhere else.

internal import Agent
internal import CofferKit
internal import Enclaves
internal import Glibc
internal import Keychains
internal import Pagers
internal import Primitives
internal import Secrets
internal import Synchronization
internal import UserAuthentication

/// What is around the commands of the tutorial.
final class TutorialSurroundings: Surroundings {
  /// Opens every coffer of the tutorial. The first chapter tells it to everybody.
  static let passphrase = "Practice-only-2026"

  static func typedPassphrase() throws -> Passphrase {
    try Passphrase(utf8: SecretBytes(copying: Array(passphrase.utf8).rawSpan))
  }

  /// PBKDF2 with so few iterations that nobody waits; there is nothing to guard.
  private static let kdf = SlotKDF.pbkdf2(iterations: 1000)

  let tutorialFiles = TutorialFiles()
  let key: PretendedSecurityKey
  let prompt: TutorialPrompt
  private let practice: Mutex<InMemoryCoffer>
  private let silence = Mutex(false)
  let run: CommandRun

  init(_ prompt: TutorialPrompt) throws {
    guard let key = PretendedSecurityKey() else { throw Failure(unsorted: "PretendedSecurityKey") }
    self.key = key
    self.prompt = prompt
    run = .current
    practice = Mutex(try Self.newCoffer(key))
  }

  private static func newCoffer(_ key: PretendedSecurityKey) throws -> InMemoryCoffer {
    try InMemoryCoffer(
      passphrase: typedPassphrase(), kdf: kdf,
      machine: Machine(enclaves: [TutorialEnclave()], securityKeys: key))
  }

  /// The coffer of the chapter, opened by its session.
  func coffer() throws -> Coffer { try practiceCoffer.open() }

  var practiceCoffer: InMemoryCoffer { practice.withLock { $0 } }

  /// Another machine, with a new coffer. Nothing of the old one is left.
  func replaceMachine() throws {
    let coffer = try Self.newCoffer(key)
    practice.withLock { $0 = coffer }
  }

  /// Runs `body` without a word on the screen.
  func silently<R>(_ body: () throws -> R) rethrows -> R {
    let before = silence.withLock { silence in
      defer { silence = true }
      return silence
    }
    defer { silence.withLock { $0 = before } }
    return try body()
  }

  var isSilent: Bool { silence.withLock { $0 } }

  // MARK: As commands see it

  var files: any CommandFiles { tutorialFiles }
  var terminal: (any PassphrasePrompt)? { prompt }
  var pinentry: String? { nil }
  var fingerReader: (any FingerprintReader)? { nil }
  var isInputTerminal: Bool { false }
  var isOutputTerminal: Bool { true }
  var isErrorTerminal: Bool { true }
  var showsColours: Bool { run.isOutputTerminal }

  /// The tutorial's own pictures are known; another would take a process that decodes it.
  func codeTexts(in picture: RawSpan) throws -> [SharedSecretBytes] {
    guard let text = tutorialFiles.code(of: picture) else {
      throw Failure.notInTutorial("process that decodes pictures; Bella's is the one that is read here")
    }
    return [SharedSecretBytes(SecretBytes(copying: Array(text.utf8).rawSpan))]
  }

  func home(_ option: String?) -> String { "the tutorial" }

  func machine() -> Machine { practiceCoffer.machine }

  func locked(home: String, _ machine: Machine, acceptsEarlierState: Bool) throws -> LockedCoffer {
    try practiceCoffer.locked()
  }

  func unfinishedExports(home: String) -> UnfinishedExports? { nil }

  func lastList(_ kind: LastList.Kind, home: String) -> LastList? { nil }

  func sessionHint(home: String) -> GivenHint? { nil }

  func pager() -> Pager? { nil }

  func touchNotice(
    _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice? {
    Terminal.remark("\(words)")
    return nil
  }

  /// Everything goes to the screen, in its order.
  func write(_ bytes: RawSpan, to descriptor: Int32) -> Int32 {
    isSilent ? 0 : SystemSurroundings(run).write(bytes, to: run.environment.streams.output)
  }
}
