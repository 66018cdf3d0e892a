// SPDX-License-Identifier: Apache-2.0
//
// What a run of a command line gets from whoever starts it, as values: the process `coffer` those of the system, a test its
// own. Whatever is the same for a whole process (signals, locked memory, the log) belongs to the run of `coffer` alone.

internal import Agent
package import Enclaves
internal import Glibc
package import Keychains
internal import Primitives
package import SecurityKeys
internal import UserAuthentication

/// What is given to one run.
package struct RunEnvironment: Sendable {
  /// The standard streams of a run, as open descriptors. A run closes none of them.
  package struct Streams: Sendable {
    /// Where the run reads.
    package var input: Int32
    /// Where the content goes.
    package var output: Int32
    /// Where remarks and errors go.
    package var error: Int32

    /// Streams on these descriptors.
    package init(input: Int32, output: Int32, error: Int32) {
      (self.input, self.output, self.error) = (input, output, error)
    }

    fileprivate static let ofProcess = Streams(
      input: STDIN_FILENO, output: STDOUT_FILENO, error: STDERR_FILENO)
  }

  /// The variables of the environment.
  package var variables: [String: String]
  /// The standard streams.
  package var streams: Streams
  /// The terminal to ask on; nil without one.
  package var terminal: String?
  /// The program that is started again as an agent, a decoder, an editor's parent or a keeper of the clipboard.
  package var executable: String
  /// What Argon2id costs for passphrases of new slots. No option and no variable sets it.
  package var derivation: SlotKDF
  /// The security keys; nil for those of the system. No option and no variable sets it.
  package var securityKeys: (any SecurityKeyFinder)?
  /// The enclaves; nil for those of the system. No option and no variable sets it.
  package var enclaves: [any Enclave]?
  /// Whether fingers may be asked for, with the system's reader.
  package var hasFingerReader: Bool
  /// How the run is asked to end early.
  package let interruption: RunInterruption
  /// Whether the run has the process for itself.
  let ownsProcess: Bool

  /// A run beside others in a process: without a terminal and a reader of fingers, and with nothing of the process's own.
  /// - Parameters:
  ///   - variables: all variables of the environment.
  ///   - executable: the path of `coffer`.
  package init(variables: [String: String], streams: Streams, executable: String) {
    self.variables = variables
    self.streams = streams
    self.executable = executable
    terminal = nil
    derivation = .recommended
    (securityKeys, enclaves) = (nil, nil)
    hasFingerReader = false
    interruption = RunInterruption()
    ownsProcess = false
  }

  private init(ownsProcess: Bool) {
    variables = Self.variablesOfProcess
    streams = .ofProcess
    terminal = "/dev/tty"
    executable = "/proc/self/exe"
    derivation = .recommended
    (securityKeys, enclaves) = (nil, nil)
    hasFingerReader = true
    interruption = ownsProcess ? RunInterruption.bySignals() : RunInterruption()
    self.ownsProcess = ownsProcess
  }

  /// The one run of this process.
  static var ofProcess: RunEnvironment { RunEnvironment(ownsProcess: true) }

  /// For code that is called outside of a run: the system's values, and nothing of the process is changed.
  static var ofSystem: RunEnvironment { RunEnvironment(ownsProcess: false) }

  /// The terminal to ask on; where there is none, one that cannot be opened.
  var promptTerminal: PromptTerminal { PromptTerminal(path: terminal, variables: variables) }

  /// What agents, and those who look for them, take from it.
  var agentVariables: AgentVariables { AgentVariables(variables) }

  /// What Argon2id costs for the slots of a new account.
  var accountCosts: Argon2idParameters {
    if case .argon2id(let costs) = derivation { costs } else { .recommended }
  }

  /// A variable; nil when it is not there.
  func variable(_ name: String) -> String? { variables[name] }

  /// A variable that is there and not empty.
  func given(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }

  private static var variablesOfProcess: [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if let end = text.firstIndex(of: "=") {
        let name = String(text[..<end])
        // Of two with one name, the first is what getenv gives.
        if variables[name] == nil { variables[name] = String(text[text.index(after: end)...]) }
      }
      unsafe next += 1
    }
    return variables
  }
}
