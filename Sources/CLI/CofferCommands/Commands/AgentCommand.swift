// SPDX-License-Identifier: Apache-2.0

internal import Agent
internal import ArgumentParser
internal import CofferKit
internal import Secrets

struct AgentCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent", abstract: "Keep the keys of an unlocked coffer for the next commands.")
  static let page = """
    coffer agent: keeps the keys of an unlocked coffer for the next commands

    usage: coffer agent [--idle-limit TIME] [--absolute-limit TIME] [--ordinary-memory]
                        [--lock-on-memory-pressure] [--ready-fd N]

    Runs in the foreground until 'coffer lock --all', logout or SIGTERM. You rarely need it: 'coffer unlock'
    starts it. It locks after 5 minutes without use, 8 hours after the passphrase, when the screen is
    locked, and before sleep. The limits are seconds, or 15m or 8h, up to a day; a session may have its own
    ('coffer unlock --idle-limit'). Where the kernel has memory that prevents hibernation, the keys are in
    it; with --ordinary-memory they are not, and are erased before sleep. --ready-fd names a descriptor that
    receives one byte: 1 when the agent is listening, 2 when this coffer already has an agent.

    example: coffer agent --idle-limit 15m
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var limits: LimitOptions
  @Flag(name: .customLong("ordinary-memory"), help: "Do not prevent hibernation.")
  var ordinaryMemory = false
  @Flag(name: .customLong("lock-on-memory-pressure"), help: "Lock when memory is short.")
  var lockOnMemoryPressure = false
  @Option(name: .customLong("ready-fd"), help: "Write a byte to this descriptor when the agent is listening.")
  var readyFD: ReadyDescriptorOption?

  func validate() throws {
    guard let readyFD else { return }
    if readyFD.number < 3 { throw ValidationError("--ready-fd must be 3 or more") }
    if readyFD.opened == nil {
      throw ValidationError("--ready-fd: descriptor '\(readyFD.number)' is not open for writing")
    }
  }

  func execute(_ context: CommandContext) throws {
    var options = AgentOptions()
    let limits = limits.limits
    if let seconds = limits.idleSeconds { options.idleLimitSeconds = seconds }
    if let seconds = limits.absoluteSeconds { options.absoluteLimitSeconds = seconds }
    options.usesOrdinaryMemory = ordinaryMemory
    options.locksOnMemoryPressure = lockOnMemoryPressure
    options.readyDescriptor = readyFD?.opened?.duplicate
    try AgentServer.run(home: context.home, options: options) {
      context.remark("the agent is listening")
      Terminal.flush()
    }
  }
}

/// The number of `--ready-fd`, looked at when the command line is read.
struct ReadyDescriptorOption: ExpressibleByArgument {
  let number: Int32
  let opened: InheritedDescriptor?

  init?(argument: String) {
    guard let number = Int32(argument) else { return nil }
    self.number = number
    opened = InheritedDescriptor(number, for: .writing)
  }
}
