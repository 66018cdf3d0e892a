// SPDX-License-Identifier: Apache-2.0

internal import Agent
internal import ArgumentParser

struct AgentCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent", abstract: "Keep the keys of an unlocked coffer for the next commands.")
  static let page = """
    coffer agent: keeps the keys of an unlocked coffer for the next commands

    usage: coffer agent [--idle-limit SECONDS] [--absolute-limit SECONDS] [--ordinary-memory]
                        [--lock-on-memory-pressure] [--ready-fd N]

    Runs in the foreground until 'coffer lock --all', logout or SIGTERM. You rarely need it: 'coffer unlock'
    starts it. It locks after 300 seconds without use, 8 hours after the passphrase, when the screen is
    locked, and before sleep. Where the kernel has memory that prevents hibernation, the keys are in it;
    with --ordinary-memory they are not, and are erased before sleep. --ready-fd names a descriptor that
    receives one byte: 1 when the agent is listening, 2 when this coffer already has an agent.

    example: coffer agent --idle-limit 900
    """

  @OptionGroup var global: GlobalOptions
  @Option(name: .customLong("idle-limit"), help: "Lock after so many seconds without use.")
  var idleLimit: Int?
  @Option(name: .customLong("absolute-limit"), help: "Lock so many seconds after the passphrase.")
  var absoluteLimit: Int?
  @Flag(name: .customLong("ordinary-memory"), help: "Do not prevent hibernation.")
  var ordinaryMemory = false
  @Flag(name: .customLong("lock-on-memory-pressure"), help: "Lock when memory is short.")
  var lockOnMemoryPressure = false
  @Option(name: .customLong("ready-fd"), help: "Write a byte to this descriptor when the agent is listening.")
  var readyFD: Int32?

  func validate() throws {
    let bounds = AgentOptions.limitBounds
    for limit in [idleLimit, absoluteLimit].compactMap({ $0 }) where !bounds.contains(limit) {
      throw ValidationError("a limit must be \(bounds.lowerBound) to \(bounds.upperBound) seconds")
    }
    if let readyFD, readyFD < 3 { throw ValidationError("--ready-fd must be 3 or more") }
  }

  func execute(_ context: CommandContext) throws {
    var options = AgentOptions()
    if let idleLimit { options.idleLimitSeconds = idleLimit }
    if let absoluteLimit { options.absoluteLimitSeconds = absoluteLimit }
    options.usesOrdinaryMemory = ordinaryMemory
    options.locksOnMemoryPressure = lockOnMemoryPressure
    options.readyDescriptor = readyFD
    try AgentServer.run(home: context.home, options: options) {
      context.remark("the agent is listening")
      Terminal.flush()
    }
  }
}
