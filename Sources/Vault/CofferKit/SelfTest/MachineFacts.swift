// SPDX-License-Identifier: Apache-2.0
//
// What the machine has. Nothing of it is a failure.

internal import Enclaves
internal import OpenPGP
internal import UserAuthentication

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

  /// The chip that keeps keys.
  public let chip: Presence
  /// The reader of fingers.
  public let fingerReader: Presence
  /// Whether a backup of an advanced identity could be made now.
  public let hasMemoryForBackups: Bool

  /// Asks a machine, and changes nothing of it.
  public init(_ machine: Machine) {
    chip = Self.chip(machine)
    fingerReader = Self.fingerReader()
    hasMemoryForBackups = (try? SecretKeyProtection.Profile.checkMemory(version: 6)) != nil
  }

  private static func chip(_ machine: Machine) -> Presence {
    guard let chip = machine.chip else { return .none }
    do throws(EnclaveError) { try chip.checkAvailability() } catch {
      return error == .unavailable ? .none : .silent
    }
    return .ready
  }

  private static func fingerReader() -> Presence {
    guard let reader = FingerprintReaders.system else { return .none }
    do throws(FingerprintError) { _ = try reader.hasEnrolledFinger() } catch {
      return error == .noReader ? .none : .silent
    }
    return .ready
  }
}
