// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import MessageFormats
internal import Primitives
internal import Texts
internal import Vaults

struct VaultCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "vault", abstract: "The key that encrypts messages.",
    subcommands: [VaultRotateCommand.self, VaultStatusCommand.self, VaultRollbackCommand.self])
  static let page = """
    coffer vault: the key that encrypts messages

    usage: coffer vault status
           coffer vault rotate [--resume]
           coffer vault rollback

    example: coffer vault rotate
    """
}

struct VaultRotateCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Encrypt every message with a new key.")
  static let page = """
    coffer vault rotate: encrypt every message with a new key

    usage: coffer vault rotate [--resume]
                               \(OpeningOptions.usage)

    Encrypts every message again and verifies it. Keeps the old key for 30 days. If a rotation is
    interrupted, every message can still be read, and the next rotation continues where it stopped.

      --resume  only continue a rotation that was interrupted

    example: coffer vault rotate
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Flag(help: "Only continue a rotation that was interrupted.") var resume = false

  func execute(_ context: CommandContext) throws {
    let run = RotationRun(context)
    let coffer = try run.context.open(opening)
    try run.run { try coffer.rotateVaultKey(onlyResumes: resume, progress: $0) }
  }
}

struct VaultRollbackCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Go back to the previous key.")
  static let page = """
    coffer vault rollback: encrypt every message with the previous key again

    usage: coffer vault rollback \(OpeningOptions.usage)

    Works for 30 days after a rotation, and during one that was interrupted. No message is lost, not even
    those added since.

    example: coffer vault rollback
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let run = RotationRun(context)
    let coffer = try run.context.open(opening)
    try run.run { try coffer.rollBackVaultKey(progress: $0) }
  }
}

/// A rotation or rollback with its progress, and the answer at its end.
struct RotationRun {
  /// Does not advise to do what this is.
  let context: CommandContext

  init(_ context: CommandContext) {
    var context = context
    context.namesRotation = false
    self.context = context
  }

  private struct Answer: Encodable {
    let keyVersion: Int
    let messages: Int
    let unreadable: [String]
  }

  func run(
    _ body: ((Vault.RotationProgress) throws -> Bool) throws -> Vault.RotationReport?
  ) throws {
    var sealing = ProgressBar("encrypting", isQuiet: context.isQuiet || context.isJSON)
    var reading = ProgressBar("verifying", isQuiet: context.isQuiet || context.isJSON)
    defer { reading.finish() }
    Interruption.catchOnce()
    let report = try body { progress in
      switch progress.phase {
      case .resealing: sealing.update(progress.done, of: progress.total, unit: "messages")
      case .readingBack:
        sealing.finish()
        reading.update(progress.done, of: progress.total, unit: "messages")
      }
      return !Interruption.isRequested
    }
    sealing.finish()
    reading.finish()
    guard let report else {
      throw Failure.interrupted(
        "every message can still be read", hint: "continue with 'coffer vault rotate --resume'")
    }
    let sealedCount = report.readableCount
    if context.isJSON {
      JSON.print(
        Answer(
          keyVersion: report.version, messages: sealedCount,
          unreadable: report.unreadable.map(\.description)))
    } else {
      context.remark(
        "\(sealedCount.counted("message is", "messages are")) encrypted with version \(report.version) of the vault key"
      )
    }
    try MessageList.report(report.unreadable)
  }
}

struct VaultStatusCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Keys, their ages, and failures.")
  static let page = """
    coffer vault status: keys, their ages, and recent failures

    usage: coffer vault status \(OpeningOptions.usage)

    example: coffer vault status --json
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  struct Answer: Encodable {
    struct Key: Encodable {
      let version: Int
      let created: String
      let retired: String?
    }
    let messages: Int
    let trash: Int
    /// Missing without an index.
    let index: IndexAnswer?
    let keyVersion: Int
    let keys: [Key]
    let rotating: Bool
    let rotationDue: Bool
    let recentFailures: Int
  }

  func execute(_ context: CommandContext) throws {
    let vault = try context.open(opening).vault
    let status = try vault.status()
    let index = try vault.indexStatus().map(IndexAnswer.init)
    if context.isJSON {
      return JSON.print(
        Answer(
          messages: status.messageCount, trash: status.trashCount, index: index,
          keyVersion: status.currentKeyVersion,
          keys: status.keys.map {
            .init(
              version: $0.version, created: RFC3339.format($0.created),
              retired: $0.retired.map(RFC3339.format))
          },
          rotating: status.isRotating, rotationDue: status.isRotationDue,
          recentFailures: status.recentFailures))
    }
    Terminal.print("messages  \(status.messageCount)")
    if let index { Terminal.print("index     \(index.words)") }
    if status.trashCount > 0 { Terminal.print("trash     \(status.trashCount)") }
    for key in status.keys {
      let state =
        if key.version == status.currentKeyVersion {
          "in use"
        } else if let retired = key.retired {
          "replaced \(LocalTime.shown(retired)), kept for \(Vault.retiredKeyDays) days"
        } else {
          "being replaced"
        }
      Terminal.print(
        "key       version \(key.version), made \(LocalTime.shown(key.created)), \(state)")
    }
    if status.isRotating {
      Terminal.print("rotation  started and not finished: coffer vault rotate --resume")
    }
    if status.isRotationDue { Terminal.print("rotation  due: the key is more than a year old") }
    Terminal.print("failures  \(status.recentFailures) in the last hour")
  }
}
