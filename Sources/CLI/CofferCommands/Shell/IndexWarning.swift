// SPDX-License-Identifier: Apache-2.0
//
// The search index is brought up to date after a command has told what it did. What goes wrong with it changes no
// answer and no exit code, and is told on standard error, also with --quiet.

internal import CofferKit
internal import Storage
internal import Synchronization
internal import Vaults

/// The coffers that a command has opened.
final class OpenedCoffers: Sendable {
  private let coffers = Mutex<[Coffer]>([])

  /// - Returns: whether it was not among them.
  func append(_ coffer: Coffer) -> Bool {
    coffers.withLock { coffers in
      guard !coffers.contains(where: { $0 === coffer }) else { return false }
      coffers.append(coffer)
      return true
    }
  }

  /// Says of those whose slots were changed that the chip has not counted it.
  func tellUncounted(isJSON: Bool) {
    guard coffers.withLock({ $0.contains(where: \.isCounterBehind) }) else { return }
    Warning(
      code: "counter_not_moved",
      message: "the TPM has not counted this change: a copy of the file from before would pass as the latest",
      hint: "open the coffer once more, such as with 'coffer unlock': that makes up for it"
    ).tell(isJSON: isJSON)
  }

  /// Brings the search index of those that were changed up to date.
  func updateIndexes(isQuiet: Bool, isJSON: Bool) {
    for coffer in coffers.withLock({ $0 }) where coffer.vault.isChanged {
      // What was told is an acknowledgement, so it is written before.
      Terminal.flush()
      // Long only where there was no index before, as after a restoration.
      var bar = ProgressBar("indexing", isQuiet: isQuiet || isJSON)
      do {
        try coffer.vault.updateIndex { bar.update($0.done, of: $0.total, unit: "messages") }
        bar.finish()
      } catch {
        bar.finish()
        IndexWarning.notUpdated(error).tell(isJSON: isJSON)
      }
    }
  }
}

/// What is wrong with the search index.
enum IndexWarning {
  /// Messages were read one by one.
  case unused(Vault.IndexTrouble)
  /// Messages that were stored are not in it.
  case notUpdated(any Error)

  private var code: String {
    switch self {
    case .unused(.damaged): "index_damaged"
    case .unused(.disk): "index_unreadable"
    case .notUpdated: "index_not_updated"
    }
  }

  private var message: String {
    switch self {
    case .unused(.damaged): "the search index is damaged: messages were read one by one"
    case .unused(.disk(let error)):
      "the search index cannot be read: \(error.sentence); messages were read one by one"
    case .notUpdated(let error as StorageError): "the search index was not updated: \(error.sentence)"
    case .notUpdated(let error): "the search index was not updated: \(Failure(error).message)"
    }
  }

  private var hint: String {
    switch self {
    case .unused(.damaged): "'coffer doctor --reindex' makes it again"
    case .unused(.disk): "the answer is whole; 'coffer doctor' examines the coffer"
    case .notUpdated: "everything is stored and found; the next command that stores messages tries again"
    }
  }

  func tell(isJSON: Bool) { Warning(code: code, message: message, hint: hint).tell(isJSON: isJSON) }
}
