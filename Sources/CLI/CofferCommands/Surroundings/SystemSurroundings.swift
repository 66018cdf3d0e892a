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
internal import SecurityKeys
internal import UserAuthentication

struct SystemSurroundings: Surroundings {
  let run: CommandRun

  init(_ run: CommandRun) { self.run = run }

  private var environment: RunEnvironment { run.environment }

  var files: any CommandFiles { SystemFiles(environment) }
  var fingerReader: (any FingerprintReader)? {
    environment.hasFingerReader ? FingerprintReaders.system : nil
  }
  var isInputTerminal: Bool { isatty(environment.streams.input) == 1 }
  var isOutputTerminal: Bool { run.isOutputTerminal }
  var isErrorTerminal: Bool { run.isErrorTerminal }
  var showsColours: Bool { true }

  var terminal: (any PassphrasePrompt)? {
    let prompt = TerminalPrompt(on: environment.promptTerminal)
    return prompt.isAvailable ? prompt : nil
  }

  var pinentry: String? { environment.given("COFFER_PINENTRY") }

  /// `--home`, else COFFER_HOME, else the user's data directory.
  func home(_ option: String?) -> String {
    if let option { return option }
    if let home = environment.given("COFFER_HOME") { return home }
    if let data = environment.variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/coffer" }
    // HOME first, because a user or a script can set it; the user database is the fallback.
    let own = environment.variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
    return own + "/.local/share/coffer"
  }

  func machine() -> Machine {
    let found =
      if let enclaves = environment.enclaves {
        Machine(enclaves: enclaves, securityKeys: SecurityKeyFinders.system)
      } else {
        environment.given("COFFER_TCTI").map { Machine(tcti: $0) } ?? Machine()
      }
    let machine = found.with(agentVariables: environment.agentVariables)
    return environment.securityKeys.map { machine.with(securityKeys: $0) } ?? machine
  }

  func locked(home: String, _ machine: Machine, acceptsEarlierState: Bool) throws -> LockedCoffer {
    try LockedCoffer(home: home, machine: machine, acceptsEarlierState: acceptsEarlierState)
  }

  func unfinishedExports(home: String) -> UnfinishedExports? { UnfinishedExports(home: home) }

  func lastList(_ kind: LastList.Kind, home: String) -> LastList? {
    LastList(kind, home: home, variables: environment.agentVariables)
  }

  func sessionHint(home: String) -> GivenHint? {
    GivenHint(home: home, variables: environment.agentVariables)
  }

  func pager() -> Pager? { Pager.start(environment.variables) }

  func touchNotice(
    _ words: String, cancel: @escaping @Sendable () -> Void
  ) -> TerminalTouchNotice? {
    TerminalTouchNotice.begin(on: environment.promptTerminal, words, cancel: cancel)
  }

  func codeTexts(in picture: RawSpan) throws -> [SharedSecretBytes] {
    try CodeReader(executable: environment.executable).texts(in: picture)
  }

  func write(_ bytes: RawSpan, to descriptor: Int32) -> Int32 {
    // A reader that has gone must not end the process in the middle of an operation. Beside other runs, signals are
    // the business of whoever has the process.
    let former = environment.ownsProcess ? signal(SIGPIPE, SIG_IGN) : nil
    defer { if environment.ownsProcess { signal(SIGPIPE, former) } }
    return unsafe bytes.withUnsafeBytes {
      unsafe coffer_write_all(descriptor, $0.baseAddress, $0.count) == 0 ? 0 : errno
    }
  }
}
