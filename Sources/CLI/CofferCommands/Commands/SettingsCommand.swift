// SPDX-License-Identifier: Apache-2.0
//
// The settings that something reads.

internal import Agent
internal import ArgumentParser
internal import CofferKit
internal import ProtectedData

struct SettingsCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "settings", abstract: "Settings.")
  static let page = """
    coffer settings: shows the settings, or changes one

    usage: coffer settings [list] \(OpeningOptions.usage)
           coffer settings NAME VALUE

    grace-period     seconds, 0 to 3600: in a session, private parts are used without asking for so long
                     after the passphrase or PIN was given, by every program that runs as you. 0: always ask.
                     Only in mode standard; in high-security there is none.
    encrypt-to-self  on or off: what you send is encrypted for you too, so that you can read it
    lock-after       seconds, 1 to 86400: a session ends after so long without a command; from the next
                     'coffer unlock' on, whatever the mode of private parts

    A change needs the passphrase or PIN, even during a session.

    example: coffer settings grace-period 0
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The setting.") var name: String?
  @Argument(help: "Its new value.") var value: String?

  struct Answer: Encodable {
    let gracePeriodSeconds: Int
    let encryptToSelf: Bool
    let lockAfterSeconds: Int

    init(_ coffer: Coffer) throws {
      let settings = try coffer.protectedSettings()
      gracePeriodSeconds = Int(settings.gracePeriodSeconds)
      encryptToSelf = settings.encryptToSelf
      lockAfterSeconds = try coffer.settings().idleLimitSeconds ?? AgentOptions().idleLimitSeconds
    }
  }

  /// A change that was understood.
  private enum Change {
    case gracePeriod(UInt32)
    case encryptToSelf(Bool)
    case lockAfter(Int)

    init(_ name: String, _ value: String) throws {
      switch (name, value) {
      case ("grace-period", _):
        let limit = ProtectedSettings.gracePeriodLimitSeconds
        guard let seconds = UInt32(value), seconds <= limit else {
          throw Failure.usage("grace-period takes seconds, 0 to \(limit): '\(value)'")
        }
        self = .gracePeriod(seconds)
      case ("encrypt-to-self", "on"): self = .encryptToSelf(true)
      case ("encrypt-to-self", "off"): self = .encryptToSelf(false)
      case ("encrypt-to-self", _): throw Failure.usage("encrypt-to-self takes on or off: '\(value)'")
      case ("lock-after", _):
        let bounds = AgentOptions.limitBounds
        guard let seconds = Int(value), bounds.contains(seconds) else {
          throw Failure.usage(
            "lock-after takes seconds, \(bounds.lowerBound) to \(bounds.upperBound): '\(value)'")
        }
        self = .lockAfter(seconds)
      default:
        throw Failure.usage(
          "there is no setting '\(name)'", hint: "grace-period, encrypt-to-self, lock-after")
      }
    }
  }

  func execute(_ context: CommandContext) throws {
    guard let name, name != "list" || value != nil else {
      let coffer = try context.open(opening)
      try coffer.unlockProtectedData()
      return show(try Answer(coffer), context)
    }
    guard let value else { throw Failure.usage("'\(name)' needs a value", hint: "coffer settings --help") }
    let change = try Change(name, value)
    if case .encryptToSelf(false) = change { context.remark("You will not be able to read what you send.") }
    let coffer = try context.open(opening, needing: .slot)
    try coffer.unlockProtectedData()
    do {
      switch change {
      case .gracePeriod(let seconds):
        try coffer.changeProtectedSettings { $0.gracePeriodSeconds = seconds }
      case .encryptToSelf(let isOn): try coffer.changeProtectedSettings { $0.encryptToSelf = isOn }
      case .lockAfter(let seconds): try coffer.setIdleLimit(seconds: seconds)
      }
    } catch let error as AgentError {
      throw Failure(keptAfter: "\(name) is \(value) now", error)
    }
    if context.isJSON { return JSON.print(try Answer(coffer)) }
    context.remark("\(name) is \(value) now.")
  }

  private func show(_ answer: Answer, _ context: CommandContext) {
    if context.isJSON { return JSON.print(answer) }
    Terminal.print("grace-period     \(answer.gracePeriodSeconds)")
    Terminal.print("                 seconds after the passphrase or PIN in which a session asks for nothing")
    Terminal.print("encrypt-to-self  \(answer.encryptToSelf ? "on" : "off")")
    Terminal.print("                 what you send is encrypted for you too")
    Terminal.print("lock-after       \(answer.lockAfterSeconds)")
    Terminal.print("                 seconds without a command after which a session ends")
  }
}
