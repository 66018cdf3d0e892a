// SPDX-License-Identifier: Apache-2.0
//
// What the machine has. Nothing of it is a failure.

internal import Enclaves
internal import OpenPGP
internal import SecurityKeys
public import UserAuthentication

/// What a machine has for a coffer.
public struct MachineFacts: Sendable {
  /// Whether something answers.
  public enum Presence: String, Sendable, CaseIterable {
    /// It answers.
    case ready
    /// It is there and does not answer.
    case silent
    /// There is none.
    case none
  }

  /// Whether a security key can be used now.
  public enum SecurityKeyPresence: String, Sendable, CaseIterable {
    /// One is plugged in.
    case ready
    /// Several are plugged in: one is to stay.
    case several
    /// The system does not let this user open it.
    case notPermitted = "not_permitted"
    /// It keeps no secrets, or cannot verify its user.
    case unsuitable
    /// It does not answer.
    case silent
    /// None is plugged in.
    case none
    /// The library that speaks to keys is not installed.
    case noLibrary = "no_library"
    /// This program was built without security keys.
    case notBuilt = "not_built"

    /// Looks for a security key; nobody has to touch it.
    public init(_ machine: Machine) {
      guard let finder = machine.securityKeys else {
        self = .notBuilt
        return
      }
      do throws(SecurityKeyError) {
        _ = try finder.onlyKey()
        self = .ready
      } catch {
        switch error {
        case .noKey: self = .none
        case .several: self = .several
        case .notPermitted: self = .notPermitted
        case .unsuitable: self = .unsuitable
        case .noLibrary: self = .noLibrary
        default: self = .silent
        }
      }
    }
  }

  /// The chip that keeps keys.
  public let chip: Presence
  /// The reader of fingers.
  public let fingerReader: Presence
  /// Security keys.
  public let securityKey: SecurityKeyPresence
  /// Whether a backup of an advanced identity could be made now.
  public let hasMemoryForBackups: Bool

  /// Asks a machine, and changes nothing of it.
  /// - Parameter fingerReader: the reader of fingers; nil without one.
  public init(_ machine: Machine, _ fingerReader: (any FingerprintReader)?) {
    chip = Self.chip(machine)
    self.fingerReader = Self.presence(fingerReader)
    securityKey = SecurityKeyPresence(machine)
    hasMemoryForBackups = (try? SecretKeyProtection.Profile.checkMemory(version: 6)) != nil
  }

  private static func chip(_ machine: Machine) -> Presence {
    guard let chip = machine.chip else { return .none }
    do throws(EnclaveError) { try chip.checkAvailability() } catch {
      return error == .unavailable ? .none : .silent
    }
    return .ready
  }

  private static func presence(_ reader: (any FingerprintReader)?) -> Presence {
    guard let reader else { return .none }
    do throws(FingerprintError) { _ = try reader.hasEnrolledFinger() } catch {
      return error == .noReader ? .none : .silent
    }
    return .ready
  }
}
