// SPDX-License-Identifier: Apache-2.0

internal import Agent
internal import Secrets

extension Failure {
  init(agent error: AgentError) {
    switch error {
    case .locked, .otherCoffer:
      self.init(.locked, "locked", "the coffer is locked", hint: "'coffer unlock' opens it")
    case .notAnswering, .malformedAnswer:
      self.init(
        .noHardware, "agent_not_answering", "the agent does not answer", hint: "'coffer lock --all' ends it")
    case .unreachable(let process):
      self.init(
        .noHardware, "agent_not_answering",
        "an agent of this coffer, process \(process), cannot be reached and may still have the keys",
        hint: "'coffer lock --all' ends it; if that fails: kill -KILL \(process)")
    case .alreadyServed:
      self.init(
        .inUse, "already_served", "an agent is already serving this coffer",
        hint: "'coffer unlock --idle-limit TIME' changes its limits; 'coffer lock --all' ends it")
    case .noHome: self.init(.missing, "no_coffer", "there is no coffer", hint: "'coffer init' makes one")
    case .noRuntimeDirectory, .pathTooLong:
      self.init(
        .refused, "no_runtime_directory", "there is no safe place for the agent's socket",
        hint: "set XDG_RUNTIME_DIR to a folder of mode 0700 with a short name")
    case .limitOutOfBounds: self.init(.usage, "usage", "a limit is out of bounds")
    case .noLockedMemory: self.init(SecretMemoryError.cannotLock)
    case .unprotected: self.init(.refused, "unprotected", "the agent's process could not be protected")
    case .startFailed, .system: self.init(.inUse, "agent_failed", "the agent could not be started")
    case .missingKey: self.init(.bug, "internal", "a key is missing")
    }
  }

  /// An agent that may still keep the passcode of private keys, after `done` was done.
  init(keptAfter done: String, _ error: AgentError) {
    let who =
      if case .unreachable(let process) = error { "an agent of this coffer, process \(process)," } else {
        "an agent of this coffer"
      }
    let last =
      if case .unreachable(let process) = error { "; if that fails: kill -KILL \(process)" } else { "" }
    self.init(
      .noHardware, "agent_not_answering",
      "\(done), but \(who) does not answer, and may still use private keys until its grace period ends",
      hint: "'coffer lock --all' ends it\(last)")
  }
}
