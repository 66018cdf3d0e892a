// SPDX-License-Identifier: Apache-2.0
//
// Protected app data: the settings, what is wrong with a domain, and how it starts anew.

internal import ArgumentParser
internal import CofferKit
internal import KeyCustody
internal import ProtectedData

struct SettingsCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Show or change the protected settings.")
  static let page = """
    coffer settings: show or change what OpenPGP commands go by

    usage: coffer settings [KEY [VALUE]] [--passphrase-fd N | --passphrase-file PATH]

      clipboard-notice  on|off             tell what copying to the clipboard means
      grace-period      SECONDS            no second authentication for so long; 0 to 3600
      colour-theme      system|light|dark
      encrypt-to-self   on|off             encrypt messages to their sender too

    Settings that cannot be read are an error, and no default stands in for them.

    example: coffer settings encrypt-to-self off
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A setting.") var key: SettingKey?
  @Argument(help: "Its new value.") var value: String?

  func execute(_ session: Session) throws {
    let coffer = try session.open(opening)
    try coffer.unlockProtectedData()
    let domains = try coffer.protectedDomains()
    if let key, let value {
      try domains.update(ProtectedSettings.self) { settings in try key.set(value, in: &settings) }
      return
    }
    let settings = try domains.read(ProtectedSettings.self)
    let keys = key.map { [$0] } ?? SettingKey.allCases
    if session.isJSON {
      JSON.print(Dictionary(uniqueKeysWithValues: keys.map { ($0.rawValue, $0.text(settings)) }))
    } else if key != nil {
      for key in keys { Terminal.print(key.text(settings)) }
    } else {
      for key in keys { Terminal.print("\(key.rawValue.padded(to: 16))  \(key.text(settings))") }
    }
  }
}

/// The settings that a person may change here.
enum SettingKey: String, ExpressibleByArgument, CaseIterable {
  case clipboardNotice = "clipboard-notice"
  case gracePeriod = "grace-period"
  case colourTheme = "colour-theme"
  case encryptToSelf = "encrypt-to-self"

  func text(_ settings: ProtectedSettings) -> String {
    switch self {
    case .clipboardNotice: Self.text(settings.clipboardNotice)
    case .gracePeriod: "\(settings.gracePeriodSeconds)"
    case .colourTheme: settings.colourTheme.name
    case .encryptToSelf: Self.text(settings.encryptToSelf)
    }
  }

  func set(_ value: String, in settings: inout ProtectedSettings) throws {
    switch self {
    case .clipboardNotice: settings.clipboardNotice = try flag(value)
    case .gracePeriod:
      guard let seconds = UInt32(value), seconds <= ProtectedSettings.gracePeriodLimitSeconds else {
        throw refusal("a number of seconds up to \(ProtectedSettings.gracePeriodLimitSeconds)")
      }
      settings.gracePeriodSeconds = seconds
    case .colourTheme:
      guard let theme = ColourTheme.allCases.first(where: { $0.name == value }) else {
        throw refusal(ColourTheme.allCases.map(\.name).joined(separator: ", "))
      }
      settings.colourTheme = theme
    case .encryptToSelf: settings.encryptToSelf = try flag(value)
    }
  }

  private static func text(_ flag: Bool) -> String { flag ? "on" : "off" }

  private func flag(_ value: String) throws -> Bool {
    switch value {
    case "on": true
    case "off": false
    default: throw refusal("on or off")
    }
  }

  private func refusal(_ wanted: String) -> Failure { Failure.usage("«\(rawValue)» takes \(wanted)") }
}

extension ColourTheme {
  var name: String {
    switch self {
    case .system: "system"
    case .light: "light"
    case .dark: "dark"
    }
  }
}

struct RecoveryStateCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery-state", abstract: "What is wrong with protected data, and what helps.")
  static let page = """
    coffer recovery-state: what is wrong with protected data and private keys, and what helps

    usage: coffer recovery-state [--passphrase-fd N | --passphrase-file PATH]

    Nothing is repaired or replaced by looking. Exit code 5 when something is lost.

    example: coffer recovery-state
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let state: String
    let fault: String?
    let domains: [String: String]
    let privateKeys: String?
    let steps: [String]
  }

  func execute(_ session: Session) throws {
    let coffer = try session.open(opening)
    // What does not open is what is asked about.
    var refusal: ProtectedDataError?
    do { try coffer.unlockProtectedData() } catch let error as ProtectedDataError { refusal = error }
    let report = try coffer.protectedDomains().recoveryState()
    let lost = report.state == .unlocked ? try coffer.openPrivateKeys().custody.examine() : nil
    if session.isJSON {
      JSON.print(
        Answer(
          state: report.state.code, fault: report.fault ?? refusal.map { Failure($0).code },
          domains: Dictionary(uniqueKeysWithValues: report.domains.map { ($0.name, $1.code) }),
          privateKeys: lost.map { $0 == 0 ? "whole" : "incomplete" }, steps: report.steps.map(\.command)))
    } else {
      show(report, refusal, lostKeys: lost)
    }
    let isLost =
      report.steps.contains { $0 != .unlock && $0 != .restart && $0 != .protectFiles } || (lost ?? 0) > 0
    if isLost {
      throw Failure(.corrupt, "recovery_needed", "protected data or private keys are not what was stored")
    }
    if let refusal { throw refusal }
  }

  private func show(_ report: RecoveryReport, _ refusal: ProtectedDataError?, lostKeys: Int?) {
    Terminal.print("protected data  \(report.state.sentence)")
    for (domain, state) in report.domains.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Terminal.print("  \(domain.name.padded(to: 28))  \(state.sentence)")
    }
    if let lostKeys {
      Terminal.print(
        "private keys    "
          + (lostKeys == 0 ? "whole" : "\(lostKeys) not what was stored: import them from a backup"))
    }
    for step in report.steps { Terminal.print("to do           \(step.sentence)") }
  }
}

struct ResetCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Delete a domain of protected data and make it anew.")
  static let page = """
    coffer reset: delete a domain of protected data and make it anew; what it held is lost

    usage: coffer reset DOMAIN --yes [--passphrase-fd N | --passphrase-file PATH]

    DOMAIN is private-key-control, key-metadata, protected-settings, contacts,
    protected-framework-sentinel, or framework for all of them with their root secret. Private keys are not
    among them and stay. Run «coffer recovery-state» first: it says which domain is damaged.

      --yes  what the domain held is given up

    example: coffer reset protected-settings --yes
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The domain.") var domain: String
  @Flag(help: "What it held is given up.") var yes = false

  func execute(_ session: Session) throws {
    let scope = try ResetScope(domain)
    guard yes else {
      throw Failure(
        .refused, "not_confirmed", "what «\(domain)» holds would be lost",
        hint: "add --yes if that is what you want")
    }
    let coffer = try session.open(opening, needing: .person)
    switch scope {
    case .domain(let domain): try coffer.reset(domain)
    case .framework: try coffer.resetProtectedData()
    }
    if session.isJSON { JSON.print(["reset": domain]) }
    session.note("«\(domain)» was made anew.")
  }
}

/// What can be reset.
private enum ResetScope {
  case domain(ProtectedDomain)
  case framework

  init(_ name: String) throws {
    if name == "framework" {
      self = .framework
    } else if let domain = ProtectedDomain(name: name) {
      self = .domain(domain)
    } else {
      throw Failure.usage(
        "there is no domain «\(name)»",
        hint: ProtectedDomain.allCases.map(\.name).joined(separator: ", ") + ", framework")
    }
  }
}

// MARK: Words

extension ProtectedState {
  /// For programs; stable.
  fileprivate var code: String {
    switch self {
    case .locked: "locked"
    case .unlocked: "unlocked"
    case .frameworkRecovery: "framework_recovery"
    case .restartRequired: "restart_required"
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .locked: "closed"
    case .unlocked: "open"
    case .frameworkRecovery(let fault): fault.sentence
    case .restartRequired: "closed until this program starts again"
    }
  }
}

extension RecoveryReport {
  fileprivate var fault: String? {
    guard case .frameworkRecovery(let fault) = state else { return nil }
    return fault.code
  }
}

extension DomainState {
  fileprivate var code: String {
    switch self {
    case .open: "open"
    case .pendingMutation: "pending"
    case .recovery(let fault): fault.code
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .open: "open"
    case .pendingMutation: "being changed by another process"
    case .recovery(let fault): fault.sentence
    }
  }
}

extension RecoveryReport.Step {
  /// What to type, in words of the shell.
  fileprivate var command: String {
    switch self {
    case .unlock: "coffer unlock"
    case .restart: "coffer lock --all"
    case .protectFiles: "chmod -R go= HOME"
    case .resetDomain(let domain): "coffer reset \(domain.name) --yes"
    case .resetFramework: "coffer reset framework --yes"
    }
  }

  fileprivate var sentence: String {
    switch self {
    case .unlock: "try again later; nothing is known to be lost"
    case .restart: "start the program again"
    case .protectFiles: "«chmod -R go=» on the coffer's directory closes it to others"
    case .resetDomain: "restore the coffer from a backup, or give the domain up: \(command)"
    case .resetFramework: "restore the coffer from a backup, or give all of it up: \(command)"
    }
  }
}
