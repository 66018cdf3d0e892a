// SPDX-License-Identifier: Apache-2.0
//
// What each mode and guard means, in one honest sentence each.

internal import ArgumentParser
internal import CofferKit
internal import Enclaves
internal import KeyCustody
internal import ProtectedData
internal import SecurityKeys
internal import UserAuthentication

/// The guards that can be chosen, the strongest first.
enum GuardName: String, ExpressibleByArgument, CaseIterable {
  case securityKey = "security-key"
  case pin, finger

  var sentence: String {
    switch self {
    case .securityKey: "Opening a private part takes your security key and its PIN or your finger on it."
    case .pin:
      "Opening a private part takes this PIN, and the chip counts wrong ones. The passphrase alone does not "
        + "open them."
    case .finger:
      "A finger is asked for. On Linux this is a check by this program: somebody who knows the passphrase "
        + "and can run programs as you gets past it."
    }
  }

  /// What every use needs from now on, for the warning.
  var need: String {
    switch self {
    case .securityKey: "a security key and its PIN or your finger on it"
    case .pin: "this machine's TPM and a PIN of the guard"
    case .finger: "a finger on the reader"
    }
  }

  /// Says why the guard cannot be used here.
  /// - Throws: `CustodyError.guardNeedsChip`, `EnclaveError`; `AuthenticationError`; `SecurityKeyError`.
  func check(_ machine: Machine) throws {
    switch self {
    case .securityKey:
      // Several keys are no reason against it: one of them is taken out when it is asked for.
      do { _ = try machine.securityKeys?.onlyKey() } catch SecurityKeyError.several {}
      if machine.securityKeys == nil { throw SecurityKeyError.noKey }
    case .pin:
      guard let chip = machine.chip else { throw CustodyError.guardNeedsChip }
      do throws(EnclaveError) { try chip.checkReadiness() } catch {
        throw error == .unavailable ? CustodyError.guardNeedsChip : CustodyError.guardRefused(error)
      }
    case .finger: try Self.checkReader()
    }
  }

  /// Whether a reader has an enrolled finger.
  static func checkReader() throws {
    guard let reader = CommandSurroundings.current.fingerReader else { throw AuthenticationError.noReader }
    do throws(FingerprintError) {
      guard try reader.hasEnrolledFinger() else { throw .notEnrolled }
    } catch {
      switch error {
      case .noReader: throw AuthenticationError.noReader
      case .notEnrolled: throw AuthenticationError.notEnrolled
      default: throw AuthenticationError.readerUnavailable(error)
      }
    }
  }
}

extension AuthenticationMode {
  /// The word for the mode.
  var name: String { isHighSecurity ? "high-security" : "standard" }

  /// - Parameter hasKeys: whether security keys open the guard record.
  func guards(hasKeys: Bool) -> [GuardName] {
    switch self {
    case .standard, .standardWithFinger: []
    case .highSecurityWithFinger: [.finger]
    case .highSecurityWithGuard: hasKeys ? [.securityKey] : [.pin]
    }
  }

  /// For programs: each alternative is enough, and needs all that it names.
  func eachUse(hasKeys: Bool) -> [[String]] {
    switch self {
    case .standard: [["passphrase"]]
    case .standardWithFinger: [["finger"], ["passphrase"]]
    case .highSecurityWithFinger: [["finger"]]
    case .highSecurityWithGuard: [["passphrase", hasKeys ? "security_key" : "guard_pin"]]
    }
  }

  /// What each use asks for.
  func asksFor(hasKeys: Bool) -> String {
    switch self {
    case .standard: "asks for the passphrase, or the PIN of a slot"
    case .standardWithFinger: "asks for a finger, the passphrase, or the PIN of a slot"
    case .highSecurityWithFinger: "asks for a finger"
    case .highSecurityWithGuard where hasKeys:
      "asks for the passphrase or the PIN of a slot, and for a security key"
    case .highSecurityWithGuard: "asks for the passphrase or the PIN of a slot, and for the PIN of the guard"
    }
  }

  static let fingerSentence =
    "With this on, a program that runs as you can use your identities while the coffer is unlocked."
}
