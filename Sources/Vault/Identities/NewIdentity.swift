// SPDX-License-Identifier: Apache-2.0
//
// A new key, everything that is stored of it, and when it ends.

internal import OpenPGP
internal import ProtectedData
internal import Texts

/// An identity to be made.
public struct NewIdentity: Sendable {
  /// When it ends.
  public enum Expiry: Sendable, Equatable {
    /// Never.
    case never
    /// At this time: seconds since 1970, UTC.
    case at(Int64)
    /// On this day of another year; on February 28 where there is no 29.
    case years(Int)
  }

  /// Unless something else is asked for.
  public static let defaultExpiry = Expiry.years(2)

  /// Whether GnuPG can read it: version 4, Curve25519; else version 6, Ed448 and X448.
  public var isUniversal: Bool
  /// Whether it stands up to quantum computers (RFC 9980): a universal one has a second subkey to encrypt to,
  /// ML-KEM-768 with X25519; another one is made of ML-DSA-87 with Ed448 and of ML-KEM-1024 with X448.
  public var isPostQuantum: Bool
  /// The first one speaks for the identity.
  public var userIDs: [UserIDText]
  /// When it ends.
  public var expiry: Expiry

  /// An identity with these names.
  /// - Throws: ``IdentityError/wrongNumberOfUserIDs(limit:)``
  public init(
    userIDs: [UserIDText], isUniversal: Bool = true, isPostQuantum: Bool = false,
    expiry: Expiry = NewIdentity.defaultExpiry
  ) throws(IdentityError) {
    guard (1...PGPKeyIdentity.userIDCountLimit).contains(userIDs.count) else {
      throw .wrongNumberOfUserIDs(limit: PGPKeyIdentity.userIDCountLimit)
    }
    self.userIDs = userIDs
    self.isUniversal = isUniversal
    self.isPostQuantum = isPostQuantum
    self.expiry = expiry
  }

  /// The end of an identity that is made now: seconds since 1970, UTC; nil for never.
  /// - Throws: ``IdentityError/invalidExpiry``
  public func end(from now: Int64) throws(IdentityError) -> Int64? { try expiry.end(from: now) }

  /// Makes the key, unlocked and in locked memory.
  /// - Throws: ``IdentityError/invalidExpiry``, ``IdentityError/engine(_:)``
  func key(at now: Timestamp) throws(IdentityError) -> TransferableSecretKey {
    var generation = KeyGeneration(
      isUniversal ? .universal : isPostQuantum ? .postQuantumHigh : .advanced,
      userIDs: userIDs.map { UserID($0.text) }, creationTime: now)
    generation.addsPostQuantumSubkey = isPostQuantum
    let seconds = Int64(now.secondsSince1970)
    generation.validitySeconds = try end(from: seconds).map { UInt32(clamping: $0 - seconds) }
    do { return try generation.generate() } catch { throw .engine(error) }
  }
}

extension NewIdentity.Expiry {
  /// This end, seen from now: seconds since 1970, UTC; nil for never.
  /// - Throws: ``IdentityError/invalidExpiry``
  public func end(from now: Int64) throws(IdentityError) -> Int64? {
    let end: Int64
    switch self {
    case .never: return nil
    case .at(let time): end = time
    case .years(let count):
      let time = CivilTime(now)
      guard count > 0, count < 1000 else { throw .invalidExpiry }
      let year = time.year + count
      let day = min(time.day, CivilTime.dayCount(of: time.month, in: year))
      guard
        let found = CivilTime.seconds(
          year: year, month: time.month, day: day, hour: time.hour, minute: time.minute, second: time.second)
      else { throw .invalidExpiry }
      end = found
    }
    guard end > now, end <= Int64(UInt32.max) else { throw .invalidExpiry }
    return end
  }
}
