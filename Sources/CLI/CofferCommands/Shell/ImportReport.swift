// SPDX-License-Identifier: Apache-2.0
//
// The report of an import, also of one that was ended early: for users, or as JSON.

internal import MessageFormats
internal import Primitives
internal import Vaults

struct ImportReport {
  /// How many reasons are printed; a file in the wrong format would give one for each line.
  private static let problemLimit = 10
  /// How many paths of each group are printed for users; programs get ten.
  private static let pathLimit = 3

  let printsIDs: Bool
  /// Entries that were skipped with `--skip`.
  let passedOver: Int
  let allowsDuplicates: Bool
  /// As of the last batch.
  var progress: Vault.ImportProgress?
  var ids: [String] = []

  init(printsIDs: Bool, passedOver: Int, allowsDuplicates: Bool) {
    self.printsIDs = printsIDs
    self.passedOver = passedOver
    self.allowsDuplicates = allowsDuplicates
  }

  var imported: Int { progress?.importedCount ?? 0 }
  var alreadyThere: Int { progress?.alreadyThereCount ?? 0 }
  var skippedCount: Int { progress?.skipped.count ?? 0 }
  /// Whether not one message was found.
  var isFruitless: Bool { imported == 0 && alreadyThere == 0 }
  var hasContent: Bool { !isFruitless || skippedCount > 0 }

  private struct Answer: Encodable {
    struct Group: Encodable {
      let reason: String
      let count: Int
      let paths: [String]
    }
    let imported: Int
    let alreadyThere: Int
    let skipped: Int
    /// The reasons for the first entries that were left out.
    let problems: [String]
    let leftOut: [Group]?
    let foreignExports: Int?
    let ids: [String]?
  }

  func tell(_ context: CommandContext) {
    let problems = progress?.skipped.prefix(Self.problemLimit).map(\.sentence) ?? []
    let groups = progress?.source.leftOut.groups ?? []
    let foreign = progress?.source.unverifiedExportCount ?? 0
    if context.isJSON {
      return JSON.print(
        Answer(
          imported: imported, alreadyThere: alreadyThere, skipped: skippedCount, problems: problems,
          leftOut: groups.isEmpty
            ? nil : groups.map { .init(reason: $0.reason.rawValue, count: $0.count, paths: $0.paths) },
          foreignExports: foreign == 0 ? nil : foreign, ids: printsIDs ? ids : nil))
    }
    Interruption.breakLine()
    if alreadyThere > 0 {
      let total = (imported + alreadyThere).counted("message")
      context.remark("\(total): \(imported) new, \(alreadyThere) already there")
    } else if !printsIDs {
      context.remark("\(imported.counted("message")) imported")
    }
    for problem in problems { context.remark("left out: \(problem)") }
    if skippedCount > problems.count { context.remark("left out: \(skippedCount - problems.count) more") }
    for group in groups { context.remark("not read: \(Self.sentence(group))") }
    if foreign > 0 {
      context.remark(
        "\(foreign.counted("message has", "messages have")) the headers of an export that this coffer did "
          + "not make; imported as mail, headers included")
      context.remark("hint: jsonl and directory carry titles, tags and types from one coffer to another")
    }
  }

  private static func sentence(_ group: LeftOut.Group) -> String {
    var paths = group.paths.prefix(pathLimit).joined(separator: ", ")
    if group.count > pathLimit { paths += " and \(group.count - pathLimit) more" }
    return "\(group.count.counted(group.reason.names.one, group.reason.names.many)): \(paths)"
  }

  // MARK: Ends

  /// The failure of an import that was interrupted.
  var interruption: Failure {
    .interrupted("\(imported.counted("message")) imported so far, and safe", hint: goOn)
  }

  /// The failure of an import that `failure` has ended.
  func failure(_ failure: Failure) -> Failure {
    var failure = failure
    failure.message += "; \(imported.counted("message")) imported so far, and safe"
    // What is damaged stays so.
    if failure.exit == .corrupt { return failure }
    failure.hint = failure.exit == .noRoom ? "make room, then \(goOn)" : goOn
    return failure
  }

  private var goOn: String {
    if !allowsDuplicates { return "run it again to go on" }
    return "continue with the same command and --skip \(passedOver + imported + skippedCount)"
  }
}

extension LeftOut.Reason {
  /// For users: singular and plural.
  fileprivate var names: (one: String, many: String) {
    switch self {
    case .hidden: ("hidden file or folder", "hidden files and folders")
    case .link: ("link", "links")
    case .special: ("FIFO, socket or device", "FIFOs, sockets and devices")
    case .unfinished: ("unfinished delivery", "unfinished deliveries")
    case .foreign: ("entry that does not belong to a Maildir", "entries that do not belong to a Maildir")
    case .gone: ("entry that disappeared meanwhile", "entries that disappeared meanwhile")
    }
  }
}

extension MessageFormatError {
  /// Why one entry was left out, for users; may contain a path as it is.
  var sentence: String {
    switch self {
    case .messageTooLarge(let byteCount, let limit):
      "a message of \(ByteCount.text(byteCount)); the limit is \(limit >> 20) MiB"
    case .malformed(let entry, let what): "entry \(entry): \(what)"
    case .metadataOutOfBounds(let what): "\(what) too long"
    case .tooDeep(let limit): "more than \(limit) folders deep, with everything in it"
    case .notFound: "there is no such file"
    case .wrongKind: "not a file"
    case .damagedCompression: "the gzip file is damaged or not complete"
    case .entry(let path, .malformed(_, let what)): "'\(path)': \(what)"
    case .entry(let path, let error): "'\(path)': \(error.sentence)"
    default: "not readable"
    }
  }
}
