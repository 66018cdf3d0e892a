// SPDX-License-Identifier: Apache-2.0
//
// The coffer's session: how it starts and ends, and the machine it runs on.

internal import Agent
internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import Keychains
internal import Storage

struct UnlockCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "unlock", abstract: "Begin a session.")
  static let page = """
    coffer unlock: open the coffer and keep it open for the commands that follow

    usage: coffer unlock [--idle-limit TIME] [--absolute-limit TIME] [--security-key]
               \(OpeningOptions.usage)

    Starts the coffer's agent, which keeps the keys in memory that no other program can read. It drops them
    after 5 minutes without a command, 8 hours after it got them, when the screen locks or the machine
    sleeps, and on 'coffer lock'. --idle-limit and --absolute-limit change both times for this session:
    seconds, or 15m or 8h, up to a day. 'coffer settings lock-after' and 'session-limit' change them from
    then on. With a TPM slot, asks for the PIN; with a slot for a
    security key that is plugged in, for its PIN or your finger, and a touch; press Return to use the
    passphrase instead. --security-key opens with the key alone; --pin-fd and --pin-file then give its PIN.
    Every command that opens the coffer takes these options.

    example: coffer unlock --idle-limit 15m
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var limits: LimitOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let state: String
    let idleSeconds: Int
    let absoluteSeconds: Int
    /// Where the new attestation key is; nil unless the machine was registered just now.
    let attestation: String?
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening, needing: .slot)
    let session = try SessionBeginning(coffer, limits.limits, context)
    if context.isJSON {
      JSON.print(
        Answer(
          state: "unlocked", idleSeconds: session.idleSeconds, absoluteSeconds: session.absoluteSeconds,
          attestation: session.registered?.enclave.name))
    }
    if let registered = session.registered { context.remark("\(registered.remark)") }
    context.remark(
      "Unlocked. It locks by itself after \(session.time); 'coffer lock' does it at once.")
  }
}

struct LockCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "lock", abstract: "End a session.")
  static let page = """
    coffer lock: drop the keys from memory

    usage: coffer lock [--all]

    Captures can still be added until the machine restarts: the agent keeps the key for that. Finds every
    agent of this coffer, wherever it was started. The exit code is 10 when one cannot be reached and may
    still have the keys; --all ends that one too.

      --all  drop the key for captures too, and end the agent

    example: coffer lock
    """

  @OptionGroup var global: GlobalOptions
  @Flag(help: "Drop every key, and end the agent.") var all = false

  struct Answer: Encodable { let state: String }

  func execute(_ context: CommandContext) throws {
    // Does not open the coffer: the keys must be dropped even if it is damaged or gone.
    let agents = AgentSession(home: context.home, variables: context.machine.agentVariables)
    let wasThere = try all ? Self.end(agents) : agents.lock()
    guard wasThere || DatabaseFile.exists(home: context.home) else { throw StorageError.notFound }
    if context.isJSON { JSON.print(Answer(state: "locked")) }
    context.remark(wasThere ? "Locked." : "It was not unlocked.")
  }

  /// Ends all agents, and says what else does, where that fails; whoever has an agent's socket may be another program.
  private static func end(_ agents: AgentSession) throws -> Bool {
    do { return try agents.end() } catch { throw notEnded(error) }
  }

  private static func notEnded(_ error: any Error) -> Failure {
    var failure = Failure(error)
    if case AgentError.unreachable(let process) = error {
      failure.hint = "'ps -p \(process)' says what it is, and 'kill -KILL \(process)' ends it"
    } else if failure.code == "agent_not_answering" {
      failure.hint = "'ps -C coffer' shows agents, and 'kill -KILL PROCESS' ends one"
    }
    return failure
  }
}

struct ForgetDeviceCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget-device", abstract: "Forget this machine's TPM and keys.")
  static let page = """
    coffer forget-device: remove the keys that tie the coffer to this machine

    usage: coffer forget-device \(OpeningOptions.usage)

    Removes the TPM slots, the key that signs captures, and the agent's keys. Messages and captures stay,
    and captures keep their signatures. The passphrase and the recovery phrase open the coffer as before.
    The next 'coffer unlock' registers the machine again.

    example: coffer forget-device
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let removedSlots: Int
    let sessionEnded: Bool
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening, needing: .slot)
    let forgotten = try coffer.forgetDevice()
    let removed = forgotten.slotCount
    let ending = SessionEnding(coffer)
    if context.isJSON { JSON.print(Answer(removedSlots: removed, sessionEnded: ending.wasThere)) }
    context.remark(
      removed == 0
        ? "This machine is forgotten." : "This machine is forgotten; \(removed.counted("TPM slot")) removed.")
    if forgotten.counterRemains { context.remark(EraseCommand.counterRemains) }
    try ending.tell(context)
  }
}

extension Device {
  /// What to tell the user about a new registration.
  var remark: String {
    switch enclave {
    case .tpm: "Captures are signed by a key in this machine's TPM."
    case .secureEnclave: "Captures are signed by a key in this machine's Secure Enclave."
    case .software: "No TPM found: captures are signed by a key in software, and marked 'unverified'."
    case .tutorial: "This is the tutorial: captures are not part of it."
    }
  }

  /// What to tell the user about a new coffer; its other keys on this machine are in the same place.
  ///
  /// - Parameter isChosen: whether the user chose that place.
  func beginning(isChosen: Bool) -> String {
    guard enclave == .software else { return remark }
    return (isChosen ? "" : "No TPM found. ")
      + "The keys for captures, protected data and private keys are in software: "
      + "only the passphrase protects them, and captures are marked 'unverified'."
  }
}
