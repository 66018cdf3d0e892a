// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Primitives

struct DoctorCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "doctor", abstract: "Examine the coffer.")
  static let page = """
    coffer doctor: examine the coffer; repairs nothing by itself

    usage: coffer doctor [--deep] [--accept-earlier-state] [--quiet]
                         \(OpeningOptions.usage)

    Without a passphrase: file modes, header, schema, every page and index, the slots. With one, also
    every keychain item, the settings, the vault's count of messages, and the captures' rows and files. With
    --deep every message and capture is opened too. --quiet tells only what was found. Exit code 5 when
    anything is not what was stored.

    Where a TPM counts the changes of a coffer, one that was put back as a whole does not open. If you put
    it back yourself, --accept-earlier-state takes it for the present one, and then examines it.

    example: coffer doctor --deep
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Open every message and capture.") var deep = false
  @Flag(help: "Take a coffer that was put back for the present one.") var acceptEarlierState = false

  struct Answer: Encodable {
    struct Finding: Encodable {
      let severity: String
      let text: String
    }
    let healthy: Bool
    let checks: [String]
    let findings: [Finding]
    let unreadable: [String]
    /// Absent where there are none.
    let damagedCaptures: [String]?
  }

  func execute(_ context: CommandContext) throws {
    let (diagnosis, coffer) = try examine(context)
    if context.isJSON {
      JSON.print(
        Answer(
          healthy: diagnosis.isHealthy, checks: diagnosis.checks,
          findings: diagnosis.findings.map { .init(severity: $0.severity.rawValue, text: $0.text) },
          unreadable: diagnosis.unreadable.map(\.description),
          damagedCaptures: diagnosis.damagedCaptures.isEmpty
            ? nil : diagnosis.damagedCaptures.map(\.description)))
    } else {
      if !context.isQuiet { for check in diagnosis.checks { Terminal.print("checked   \(check)") } }
      for finding in diagnosis.findings {
        Terminal.print("\(finding.severity.rawValue.padded(to: 8))  \(finding.text)")
      }
      for id in diagnosis.unreadable { Terminal.print("damage    message \(id)") }
      for id in diagnosis.damagedCaptures { Terminal.print("damage    capture \(id)") }
      if diagnosis.isHealthy, !context.isQuiet {
        Terminal.print(
          diagnosis.isWithoutKeys
            ? "healthy, as far as it shows without a key: 'coffer doctor --deep' examines the rest"
            : "healthy")
      }
    }
    Terminal.flush()
    // Warnings end once somebody could read which messages they were of.
    if !Terminal.isOutputLost { try coffer?.record(diagnosis) }
    guard diagnosis.isHealthy else {
      throw Failure(
        .corrupt, "unhealthy", "the coffer is not healthy",
        hint: diagnosis.findings.contains { $0.severity == .damage }
          ? "what is damaged may be whole in a copy of the coffer's folder"
          : "chmod -R go= -- \(ShellWord.quoted(context.home)) closes it to others; think of who may have read it"
      )
    }
  }

  /// What was found, and the coffer if it opened.
  private func examine(_ context: CommandContext) throws -> (Diagnosis, Coffer?) {
    guard deep || acceptEarlierState || opening.isGiven else {
      return (try interruptible(context) { try Diagnosis.withoutKeys(home: context.home) }, nil)
    }
    var bar = ProgressBar("examining", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    do {
      let coffer = try open(context)
      let diagnosis = try interruptible(context) {
        try coffer.examine(isDeep: deep) { bar.update($0, of: $1, unit: "messages") }
      }
      return (diagnosis, coffer)
    } catch {
      // What does not even open is examined from outside, so that there is more to say than "corrupt".
      guard Failure(error).exit == .corrupt else { throw error }
      let outside = try Diagnosis.withoutKeys(home: context.home)
      if outside.isHealthy { throw error }
      return (outside, nil)
    }
  }
}

extension DoctorCommand {
  private func open(_ context: CommandContext) throws -> Coffer {
    guard acceptEarlierState else { return try context.open(opening) }
    var context = context
    context.acceptsEarlierState = true
    let coffer = try context.open(opening, needing: .person)
    context.remark(
      try coffer.acceptEarlierState()
        ? "This state of the coffer is the present one now."
        : "This is the present state of the coffer already.")
    return coffer
  }

  /// Looking leaves nothing behind.
  private func interruptible(_ context: CommandContext, _ work: () throws -> Diagnosis) throws -> Diagnosis {
    let words = Failure.interrupted(
      "the coffer was not examined to the end, and nothing was changed", hint: "begin again")
    return try Interruption.endingAtOnce(words, isJSON: context.isJSON, work)
  }
}
