// SPDX-License-Identifier: Apache-2.0
//
// The surroundings of every command but those of the tutorial: this system.

internal import Agent
internal import CSystem
internal import CofferKit
internal import Foundation
internal import Glibc
internal import Pagers
internal import Pictures
internal import Secrets
internal import UserAuthentication

struct SystemSurroundings: Surroundings {
  private static let isOutputTerminal = isatty(STDOUT_FILENO) == 1
  private static let isErrorTerminal = isatty(STDERR_FILENO) == 1

  var files: any CommandFiles { SystemFiles() }
  var fingerReader: (any FingerprintReader)? { FingerprintReaders.system }
  var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }
  var isOutputTerminal: Bool { Self.isOutputTerminal }
  var isErrorTerminal: Bool { Self.isErrorTerminal }
  var showsColours: Bool { true }

  var terminal: (any PassphrasePrompt)? {
    let prompt = TerminalPrompt()
    return prompt.isAvailable ? prompt : nil
  }

  var pinentry: String? {
    let program = ProcessInfo.processInfo.environment["COFFER_PINENTRY"] ?? ""
    return program.isEmpty ? nil : program
  }

  /// `--home`, else COFFER_HOME, else the user's data directory.
  func home(_ option: String?) -> String {
    let environment = ProcessInfo.processInfo.environment
    if let option { return option }
    if let home = environment["COFFER_HOME"], !home.isEmpty { return home }
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/coffer" }
    // HOME first, because a user or a script can set it; the user database is the fallback.
    let own = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    return own + "/.local/share/coffer"
  }

  func machine() -> Machine {
    let tcti = ProcessInfo.processInfo.environment["COFFER_TCTI"] ?? ""
    let found = tcti.isEmpty ? Machine() : Machine(tcti: tcti)
    return CofferMain.securityKeys.map { found.with(securityKeys: $0) } ?? found
  }

  func locked(home: String, _ machine: Machine, acceptsEarlierState: Bool) throws -> LockedCoffer {
    try LockedCoffer(home: home, machine: machine, acceptsEarlierState: acceptsEarlierState)
  }

  func unfinishedExports(home: String) -> UnfinishedExports? { UnfinishedExports(home: home) }

  func lastList(_ kind: LastList.Kind, home: String) -> LastList? { LastList(kind, home: home) }

  func sessionHint(home: String) -> GivenHint? { GivenHint(home: home) }

  func pager() -> Pager? { Pager.start() }

  func touchNotice(
    _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice? {
    TerminalTouchNotice.begin(words, cancel: cancel)
  }

  func codeTexts(in picture: RawSpan) throws -> [SharedSecretBytes] { try CodeReader().texts(in: picture) }

  func write(_ bytes: RawSpan, to descriptor: Int32) -> Int32 {
    // A reader that has gone must not end the process in the middle of an operation.
    let former = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, former) }
    return unsafe bytes.withUnsafeBytes {
      unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count) == 0 ? 0 : errno
    }
  }
}
