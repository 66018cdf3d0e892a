// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Primitives
internal import Texts
internal import Vaults

struct DoctorCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "doctor", abstract: "Examine the coffer.")
  static let page = """
    coffer doctor: examine the coffer; repairs nothing that cannot be made again

    usage: coffer doctor [--deep] [--reindex] [--accept-earlier-state] [--quiet]
                         \(OpeningOptions.usage)

    Without a passphrase, checks file modes, header, schema, every page and index, and the slots. With one,
    or in a session, also checks every keychain item, the settings, the vault's count of messages, and the
    captures' rows and files. With --deep, also decrypts every message and capture, what is kept of an
    account, and all of the search index. --quiet shows only what was found. The exit code is 5 when
    something is damaged.

    A search index that is damaged is advice, because messages are then read one by one, with the same
    answer. --reindex makes it again from the messages before it examines.

    If a TPM counts this coffer's changes, an older copy of the whole coffer does not open. If you restored
    that copy yourself, --accept-earlier-state accepts it as the current state and then examines it.

    example: coffer doctor --deep
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Decrypt every message and capture.") var deep = false
  @Flag(help: "Make the search index again.") var reindex = false
  @Flag(help: "Accept a restored older copy as the current state.") var acceptEarlierState = false

  struct Answer: Encodable {
    struct Finding: Encodable {
      let severity: String
      let text: String
    }
    let healthy: Bool
    let checks: [String]
    let findings: [Finding]
    let unreadable: [String]
    /// Missing if there are none.
    let damagedCaptures: [String]?
    /// Missing if there is none, or no key.
    let lastBackup: String?
    /// What is plugged in; missing without a slot for a security key.
    let securityKey: String?
  }

  func execute(_ context: CommandContext) throws {
    let (diagnosis, coffer) = try examine(context)
    // Damaged slots are a finding already.
    let key = (try? context.locked()).flatMap(SecurityKeyInterface.presence)
    if context.isJSON {
      JSON.print(
        Answer(
          healthy: diagnosis.isHealthy, checks: diagnosis.checks,
          findings: diagnosis.findings.map { .init(severity: $0.severity.rawValue, text: $0.text) },
          unreadable: diagnosis.unreadable.map(\.description),
          damagedCaptures: diagnosis.damagedCaptures.isEmpty
            ? nil : diagnosis.damagedCaptures.map(\.description),
          lastBackup: try coffer?.lastBackup().map { RFC3339.format($0.made) },
          securityKey: key?.rawValue))
    } else {
      if !context.isQuiet {
        for check in diagnosis.checks { Terminal.print("checked   \(check)") }
        if let key { Terminal.print("checked   security key: \(key.words)") }
      }
      for finding in diagnosis.findings {
        Terminal.print("\(finding.severity.rawValue.padded(to: 8))  \(finding.text)")
      }
      for id in diagnosis.unreadable { Terminal.print("damage    message \(id)") }
      for id in diagnosis.damagedCaptures { Terminal.print("damage    capture \(id)") }
      if diagnosis.isHealthy, !context.isQuiet {
        Terminal.print(
          diagnosis.isWithoutKeys
            ? "healthy, as far as can be checked without a key; 'coffer doctor --deep' checks the rest"
            : "healthy")
      }
    }
    Terminal.flush()
    // The warnings end only after the messages they are about have been printed.
    if !Terminal.isOutputLost { try coffer?.record(diagnosis) }
    guard diagnosis.isHealthy else {
      throw Failure(
        .corrupt, "unhealthy", "the coffer is not healthy",
        hint: diagnosis.findings.contains { $0.severity == .damage }
          ? "a backup of the coffer's folder may have what is damaged"
          : "chmod -R go= -- \(ShellWord.quoted(context.home)) closes it to others; consider who may have read it"
      )
    }
  }

  /// The diagnosis, and the coffer if it opened.
  private func examine(_ context: CommandContext) throws -> (Diagnosis, Coffer?) {
    let asks = deep || reindex || acceptEarlierState || opening.isGiven
    let withoutKeys = { try interruptible(context) { try Diagnosis.withoutKeys(home: context.home) } }
    var bar = ProgressBar("examining", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    do {
      // In a session there is a key, and nobody has to be asked.
      guard let coffer = asks ? try open(context) : try context.openInSession() else {
        return (try withoutKeys(), nil)
      }
      if reindex { try makeIndex(coffer, context) }
      let diagnosis = try interruptible(context) {
        try coffer.examine(isDeep: deep) { bar.update($0, of: $1, unit: "messages") }
      }
      return (diagnosis, coffer)
    } catch {
      // A coffer that does not open is examined without keys, to say more than "corrupt".
      let isCorrupt = Failure(error).exit == .corrupt
      guard isCorrupt || !asks else { throw error }
      let outside = try withoutKeys()
      if isCorrupt, outside.isHealthy { throw error }
      return (outside, nil)
    }
  }
}

extension DoctorCommand {
  /// Makes the search index again from the messages. A signal stops it after a segment.
  private func makeIndex(_ coffer: Coffer, _ context: CommandContext) throws {
    var bar = ProgressBar("indexing", isQuiet: context.isQuiet || context.isJSON)
    defer { bar.finish() }
    Interruption.catchOnce()
    let isDone = try coffer.vault.rebuildIndex {
      bar.update($0.done, of: $0.total, unit: "messages")
      return !Interruption.isRequested
    }
    bar.finish()
    guard isDone, !Interruption.isRequested else {
      throw Failure.interrupted(
        "a part of the search index was made; the rest of the messages are read one by one",
        hint: "run it again")
    }
    let status = try coffer.vault.indexStatus()
    context.remark(
      "The search index was made again: \((status?.indexedCount ?? 0).counted("message")), "
        + "\(ByteCount.text(status?.byteCount ?? 0)).")
  }

  private func open(_ context: CommandContext) throws -> Coffer {
    guard acceptEarlierState else { return try context.open(opening) }
    var context = context
    context.acceptsEarlierState = true
    let coffer = try context.open(opening, needing: .slot)
    context.remark(
      try coffer.acceptEarlierState()
        ? "This state of the coffer is now accepted."
        : "This is already the latest state of the coffer.")
    return coffer
  }

  /// An examination changes nothing, so the first signal may end it at once.
  private func interruptible(_ context: CommandContext, _ work: () throws -> Diagnosis) throws -> Diagnosis {
    let words = Failure.interrupted(
      "the examination did not finish; nothing was changed", hint: "run it again")
    return try Interruption.endingAtOnce(words, isJSON: context.isJSON, work)
  }
}
