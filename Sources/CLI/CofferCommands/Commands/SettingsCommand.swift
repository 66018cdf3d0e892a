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
                     Only in mode standard: high-security always asks.
    encrypt-to-self  on or off: what you send is encrypted for you too, so that you can read it
    lock-after       seconds, 1 to 86400: a session ends after so long without a command; from the next
                     'coffer unlock' on, whatever the mode of private parts
    session-limit    seconds, 1 to 86400: a session ends so long after it began, however much it is used;
                     from the next 'coffer unlock' on
    theme            system, light, dark or none: the colours of verdicts and warnings on a terminal.
                     NO_COLOR in the environment switches them off too.
    next-steps       on or off: after a command, what to do next

    A time may also be written 15m or 2h. A change needs the passphrase or PIN, even during a session.

    example: coffer settings grace-period 0
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The setting.", completion: .list(SettingName.allCases.map(\.rawValue) + ["list"]))
  var name: String?
  @Argument(help: "Its new value.", completion: .custom { words, _, _ in SettingName.values(of: words) })
  var value: String?

  struct Answer: Encodable {
    let gracePeriodSeconds: Int
    let encryptToSelf: Bool
    let lockAfterSeconds: Int
    let sessionLimitSeconds: Int
    let theme: String
    let nextSteps: Bool

    init(_ coffer: Coffer) throws {
      let settings = try coffer.protectedSettings()
      gracePeriodSeconds = Int(settings.gracePeriodSeconds)
      encryptToSelf = settings.encryptToSelf
      let limits = try coffer.settings().limits
      lockAfterSeconds = limits.idleSeconds ?? AgentOptions().idleLimitSeconds
      sessionLimitSeconds = limits.absoluteSeconds ?? AgentOptions().absoluteLimitSeconds
      theme = settings.colourTheme.word
      nextSteps = settings.showsNextSteps
    }
  }

  /// A change that was understood.
  private enum Change {
    case protected((inout ProtectedSettings) -> Void)
    case limits((inout SessionLimits) -> Void)

    init(_ name: SettingName, _ value: String) throws {
      switch name {
      case .gracePeriod:
        let seconds = try name.seconds(value, 0...Int(ProtectedSettings.gracePeriodLimitSeconds))
        self = .protected { $0.gracePeriodSeconds = UInt32(seconds) }
      case .encryptToSelf:
        let isOn = try name.isOn(value)
        self = .protected { $0.encryptToSelf = isOn }
      case .lockAfter:
        let seconds = try name.seconds(value, AgentOptions.limitBounds)
        self = .limits { $0.idleSeconds = seconds }
      case .sessionLimit:
        let seconds = try name.seconds(value, AgentOptions.limitBounds)
        self = .limits { $0.absoluteSeconds = seconds }
      case .theme:
        guard let theme = ColourTheme.allCases.first(where: { $0.word == value }) else {
          throw name.unfit(value, "system, light, dark or none")
        }
        self = .protected { $0.colourTheme = theme }
      case .nextSteps:
        let isOn = try name.isOn(value)
        self = .protected { $0.showsNextSteps = isOn }
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
    guard let setting = SettingName(rawValue: name) else {
      throw Failure.usage(
        "there is no setting '\(name)'",
        hint: SettingName.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let change = try Change(setting, value)
    if setting == .encryptToSelf, value == "off" {
      context.remark("You will not be able to read what you send.")
    }
    let coffer = try context.open(opening, needing: .slot)
    try coffer.unlockProtectedData()
    do {
      switch change {
      case .protected(let change): try coffer.changeProtectedSettings(change)
      case .limits(let change): try coffer.changeSessionLimits(change)
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
    Terminal.print(
      "                 seconds after the passphrase or PIN in which a session asks for nothing", textAt: 17)
    Terminal.print("encrypt-to-self  \(answer.encryptToSelf ? "on" : "off")")
    Terminal.print("                 what you send is encrypted for you too", textAt: 17)
    Terminal.print("lock-after       \(answer.lockAfterSeconds)")
    Terminal.print("                 seconds without a command after which a session ends", textAt: 17)
    Terminal.print("session-limit    \(answer.sessionLimitSeconds)")
    Terminal.print(
      "                 seconds from its beginning after which a session ends in any case", textAt: 17)
    Terminal.print("theme            \(answer.theme)")
    Terminal.print("                 the colours of verdicts and warnings on a terminal", textAt: 17)
    Terminal.print("next-steps       \(answer.nextSteps ? "on" : "off")")
    Terminal.print("                 what to do next, after a command", textAt: 17)
  }
}

/// The settings, as they are typed.
private enum SettingName: String, CaseIterable {
  case gracePeriod = "grace-period"
  case encryptToSelf = "encrypt-to-self"
  case lockAfter = "lock-after"
  case sessionLimit = "session-limit"
  case theme
  case nextSteps = "next-steps"

  /// What a shell offers as the value of the setting that is named among these words.
  static func values(of words: [String]) -> [String] {
    switch words.lazy.compactMap(SettingName.init).first {
    case .encryptToSelf, .nextSteps: ["on", "off"]
    case .theme: ColourTheme.allCases.map(\.word)
    case .gracePeriod, .lockAfter, .sessionLimit, nil: []
    }
  }

  func isOn(_ value: String) throws -> Bool {
    guard value == "on" || value == "off" else { throw unfit(value, "on or off") }
    return value == "on"
  }

  func seconds(_ value: String, _ bounds: ClosedRange<Int>) throws -> Int {
    guard let seconds = Duration.seconds(value), bounds.contains(seconds) else {
      throw unfit(value, "seconds, \(bounds.lowerBound) to \(bounds.upperBound), or a time such as 15m")
    }
    return seconds
  }

  func unfit(_ value: String, _ wanted: String) -> Failure {
    .usage("\(rawValue) takes \(wanted): '\(value)'")
  }
}
