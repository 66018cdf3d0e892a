// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The errors of ``CryptoService`` and of the primitives below it.
@nonexhaustive
public enum CryptoError: Error, Equatable, Sendable {
  /// The library refused to encrypt.
  case encryptionFailed
  /// The input is malformed or truncated: it cannot be a result of encryption.
  case decryptionFailed
  /// The tag does not match: another key, or changed bytes; the two cannot be told apart.
  case authenticationFailed
  /// A key of a length other than 32 bytes.
  case invalidKey
  /// No file at that place.
  case fileNotFound
  /// The file is there and could not be read to its end.
  case fileReadError
}

extension CryptoError: LocalizedError {
  /// Fixed texts: callers may rely on them.
  public var errorDescription: String? {
    switch self {
    case .encryptionFailed: "Failed to encrypt data"
    case .decryptionFailed: "Failed to decrypt data"
    case .authenticationFailed: "Authentication failed - data may be corrupted or tampered"
    case .invalidKey: "Invalid encryption key"
    case .fileNotFound: "File not found"
    case .fileReadError: "Failed to read file"
    }
  }
}
