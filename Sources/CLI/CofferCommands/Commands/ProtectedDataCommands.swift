// SPDX-License-Identifier: Apache-2.0
//
// Protected app data: what is wrong with a domain, and how to reset it.

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import KeyCustody
internal import ProtectedData

struct RecoveryStateCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery-state", abstract: "What is wrong with protected data, and what to do.")
  static let page = """
    coffer recovery-state: what is wrong with protected data and private keys, and what to do

    usage: coffer recovery-state \(OpeningOptions.usage)

    Repairs and replaces nothing. The exit code is 5 when something is lost.

    example: coffer recovery-state
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    let state: String
    let fault: String?
    let domains: [String: String]
    /// `whole`, `incomplete`, or `unavailable` while an enclave does not answer; missing while nothing is known.
    let privateKeys: String?
    /// Those that cannot be opened any more; missing if there are none.
    let lostPrivateKeys: [LostKey]?
    /// Why the guard does not open any more; missing if nothing speaks against it.
    let lostGuard: String?
    let steps: [String]

    struct LostKey: Encodable {
      let fingerprint: String
      let reason: String
    }
  }

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    // Errors are ignored, because the report describes them.
    var refusal: ProtectedDataError?
    do { try coffer.unlockProtectedData() } catch let error as ProtectedDataError { refusal = error }
    let report = try coffer.protectedDomains().recoveryState()
    let keys = report.state == .unlocked ? try PrivateKeyReport(coffer.openPrivateKeys().custody) : nil
    let steps = steps(report, refusal)
    if context.isJSON {
      JSON.print(
        Answer(
          state: report.state.code, fault: report.fault ?? refusal.map { Failure($0).code },
          domains: Dictionary(uniqueKeysWithValues: report.domains.map { ($0.name, $1.code) }),
          privateKeys: keys?.code,
          lostPrivateKeys: keys.flatMap { keys in
            keys.lost.isEmpty
              ? nil : keys.lost.map { .init(fingerprint: $0.fingerprint, reason: $0.loss.code) }
          },
          lostGuard: keys?.guardLoss?.code,
          steps: steps.map { $0.command(home: context.home, refusal) } + (keys?.steps ?? [])))
    } else {
      show(report, refusal, steps, keys, home: context.home)
    }
    if report.steps.contains(where: { $0 != .unlock && $0 != .restart && $0 != .protectFiles })
      || keys?.isLost == true
    {
      throw Failure(
        .corrupt, "recovery_needed",
        report.wantsResetAgain
          ? "a reset was interrupted" : "protected data or private keys are not what was stored")
    }
    guard let refusal else {
      if let error = keys?.away.first { throw CustodyError.enclave(error) }
      return
    }
    var failure = Failure(refusal)
    // Of anything else the report has said what to do.
    if refusal != .enclave(.noLibrary) { failure.hint = nil }
    throw failure
  }

  /// What to do. If the enclave is gone for good, only a reset helps.
  private func steps(_ report: RecoveryReport, _ refusal: ProtectedDataError?) -> [RecoveryReport.Step] {
    switch refusal {
    case .enclaveMissing, .enclave(.unavailable), .enclave(.otherChip): report.steps + [.resetFramework]
    default: report.steps
    }
  }

  private func show(
    _ report: RecoveryReport, _ refusal: ProtectedDataError?, _ steps: [RecoveryReport.Step],
    _ keys: PrivateKeyReport?, home: String
  ) {
    Terminal.print("protected data  \(report.state.sentence)")
    for (domain, state) in report.domains.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      Terminal.print("  \(domain.name.padded(to: 28))  \(state.sentence)")
    }
    for line in keys?.lines ?? [] { Terminal.print(line) }
    for step in steps {
      let sentence =
        step == .unlock && refusal == .enclave(.noLibrary)
        ? "install the library tss2; nothing is known to be lost"
        : step.sentence(report, refusal, home: home)
      Terminal.print("to do           \(sentence)")
    }
    for line in keys?.advice ?? [] { Terminal.print("to do           \(line)") }
  }
}

struct ResetCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Delete a domain of protected data and create an empty one.")
  static let page = """
    coffer reset: delete a domain of protected data and create an empty one; its data is lost

    usage: coffer reset DOMAIN --yes \(KeyPlaceOptions.usage)
                        \(OpeningOptions.usage)

    DOMAIN is private-key-control, key-metadata, protected-settings, contacts,
    protected-framework-sentinel, or framework for all of them and their root secret. Private keys are kept.
    Run 'coffer recovery-state' first: it says which domain is damaged.

      --yes          confirm that the domain's data is lost
      --attestation  with framework: where its new key is made (default: the TPM if one answers; software
                     only if it was in software before)

    example: coffer reset protected-settings --yes
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(
    help: "The domain.", completion: .list(ProtectedDomain.allCases.map(\.name) + ["framework"]))
  var domain: String
  @OptionGroup var keyPlace: KeyPlaceOptions
  @Flag(help: "Confirm that the domain's data is lost.") var yes = false

  struct Answer: Encodable {
    let reset: String
    /// Where the new key is; missing for a domain.
    let attestation: String?
  }

  func validate() throws {
    if keyPlace.kind != nil, domain != "framework" {
      throw ValidationError("--attestation goes with 'framework'")
    }
  }

  func execute(_ context: CommandContext) throws {
    let scope = try ResetScope(domain)
    guard yes else {
      throw Failure(
        .refused, "not_confirmed", "the data in '\(domain)' would be lost",
        hint: "add --yes if that is what you want")
    }
    let coffer = try context.open(opening, needing: .slot)
    let kind: EnclaveKind?
    switch scope {
    case .domain(let domain):
      try coffer.reset(domain)
      kind = nil
    case .framework: kind = try coffer.resetProtectedData(in: keyPlace.kind)
    }
    if context.isJSON { JSON.print(Answer(reset: domain, attestation: kind?.name)) }
    context.remark("'\(domain)' was reset.")
    if let kind { context.remark("The keys for protected data and new identities are \(kind.inPlace).") }
  }
}

/// The argument of `coffer reset`: a domain, or all of them.
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
        "there is no domain '\(name)'",
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
  /// Whether the only problem is a reset that did not finish.
  fileprivate var wantsResetAgain: Bool {
    if state == .frameworkRecovery(.resetInterrupted) { return true }
    let states = domains.values.filter { $0 != .open && $0 != .pendingMutation }
    return state == .unlocked && !states.isEmpty && states.allSatisfy { $0 == .recovery(.absent) }
  }

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
  /// The command to type, quoted for a shell.
  fileprivate func command(home: String, _ refusal: ProtectedDataError?) -> String {
    switch self {
    case .unlock: "coffer unlock"
    case .restart: "coffer lock --all"
    case .protectFiles: "chmod -R go= -- \(ShellWord.quoted(home))"
    case .resetDomain(let domain): "coffer reset \(domain.name) --yes"
    case .resetFramework:
      switch refusal {
      // Otherwise nothing in software takes the place of what was in an enclave.
      case .enclaveMissing, .enclave(.unavailable): "coffer reset framework --yes --attestation software"
      default: "coffer reset framework --yes"
      }
    }
  }

  fileprivate func sentence(
    _ report: RecoveryReport, _ refusal: ProtectedDataError?, home: String
  ) -> String {
    let command = command(home: home, refusal)
    return switch self {
    case .unlock: "try again later; nothing is known to be lost"
    case .restart: "start the program again"
    case .protectFiles: "close the coffer's folder to others: \(command)"
    case .resetDomain(let domain) where report.domains[domain] == .recovery(.absent):
      "run the reset again: \(command)"
    case .resetDomain: "restore a backup of the coffer's folder, or give the domain up: \(command)"
    case .resetFramework where report.state == .frameworkRecovery(.resetInterrupted):
      "run the reset again: \(command)"
    case .resetFramework where report.state == .locked:
      "if the enclave is gone for good, give up the data bound to it: \(command)"
    case .resetFramework: "restore a backup of the coffer's folder, or give all of it up: \(command)"
    }
  }
}
