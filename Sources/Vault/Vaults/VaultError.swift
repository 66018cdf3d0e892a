// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Keychains

/// What can go wrong in a vault. Descriptions carry no identifiers. Passphrases are the slots' concern: the errors of
/// deriving a key and of weak passphrases are in `Keychains` and `CofferKit`.
@nonexhaustive
public enum VaultError: Error, Sendable {
  /// The message could not be encrypted, also not when it was tried again a second later.
  case encryptionFailed
  /// The message is not what was stored: its bytes were changed, or it was moved from another row.
  case dataTampered(MessageID)
  /// The message is not readable for another reason: its box is too short to be one, or the cipher failed.
  case decryptionFailed(MessageID, underlying: any Error)
  /// The coffer is locked: its keychain gives no key.
  case keychainAccessDenied
  /// The keychain does not answer, or is itself locked; with its error.
  case keychainNotAvailable(KeychainError)
  /// There is no such message, and the vault's count confirms that none was removed from the file.
  case messageNotFound
  /// The message was removed, and is in the trash.
  case messageInTrash
  /// There is no such message in the trash, and the vault's count confirms it.
  case notInTrash
  /// The message has no version of this number.
  case versionNotFound
  /// The vault as a whole is damaged: a row was removed from the file or inserted.
  case corrupt
  /// More than a hundred messages failed to open in an hour: authenticate again.
  case lockedAfterFailures
  /// The content has more than `limit` bytes.
  case messageTooLarge(limit: Int)
  /// The title, a tag or the type is too long, or the date is out of range.
  case metadataOutOfBounds
  /// There is no rotation to continue.
  case noRotationUnderWay
  /// There is no retired key to go back to.
  case nothingToRollBack

  /// The code of the requirements, for programs.
  public var code: String {
    switch self {
    case .encryptionFailed: "ENCRYPTION_FAILED"
    case .dataTampered: "DATA_TAMPERED"
    case .decryptionFailed: "DECRYPTION_FAILED"
    case .keychainAccessDenied: "KEYCHAIN_ACCESS_DENIED"
    case .keychainNotAvailable: "KEYCHAIN_NOT_AVAILABLE"
    case .messageNotFound: "MESSAGE_NOT_FOUND"
    case .messageInTrash: "MESSAGE_IN_TRASH"
    case .notInTrash: "NOT_IN_TRASH"
    case .versionNotFound: "VERSION_NOT_FOUND"
    case .corrupt: "VAULT_CORRUPT"
    case .lockedAfterFailures: "VAULT_LOCKED"
    case .messageTooLarge: "MESSAGE_TOO_LARGE"
    case .metadataOutOfBounds: "METADATA_OUT_OF_BOUNDS"
    case .noRotationUnderWay: "NO_ROTATION"
    case .nothingToRollBack: "NOTHING_TO_ROLL_BACK"
    }
  }

  /// The message that does not open; nil for other errors.
  var unreadableMessage: MessageID? {
    switch self {
    case .dataTampered(let id), .decryptionFailed(let id, _): id
    default: nil
    }
  }

  /// Whether trying again may help, and when.
  public var retry: RetryRule {
    switch self {
    case .encryptionFailed: .onceAfterOneSecond
    // A locked keychain has to be unlocked, and a library to be installed. A service that died may be restarted.
    case .keychainNotAvailable(.serviceLocked), .keychainNotAvailable(.serviceLibraryMissing): .never
    case .keychainNotAvailable(.serviceUnavailable): .onceAfterOneSecond
    // A service that had its time for an answer, or answers nonsense, does so again: nobody waits minutes for that.
    case .keychainNotAvailable(let error) where [-ETIMEDOUT, -EBADMSG].contains(error.status): .never
    case .keychainNotAvailable: .exponentialBackoff
    default: .never
    }
  }
}

/// Whether an operation that failed is retried automatically: once for transient errors, with growing pauses for a
/// keychain that does not answer, and never for authentication and integrity errors.
public enum RetryRule: Sendable, Equatable {
  /// Not retried.
  case never
  /// Retried once, after one second.
  case onceAfterOneSecond
  /// After 1, 2, 4 and 8 seconds.
  case exponentialBackoff

  /// The pauses before each retry, in seconds.
  public var pausesSeconds: [Int] {
    switch self {
    case .never: []
    case .onceAfterOneSecond: [1]
    case .exponentialBackoff: [1, 2, 4, 8]
    }
  }

  /// Runs `operation`, and retries it as its error's rule says.
  ///
  /// - Parameter pause: waits for a number of seconds.
  static func apply<R: ~Copyable>(
    pause: (Int) -> Void, _ operation: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var tries = 0
    while true {
      do throws(VaultError) {
        return try operation()
      } catch {
        let pauses = error.retry.pausesSeconds
        guard tries < pauses.count else { throw error }
        pause(pauses[tries])
        tries += 1
      }
    }
  }
}
