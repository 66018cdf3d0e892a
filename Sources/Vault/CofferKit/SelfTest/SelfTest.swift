// SPDX-License-Identifier: Apache-2.0
//
// The self-test: what the crypto service, the engine and custody promise, tried on this machine, in memory. Nothing is read from a coffer
// or stored (PD-15). A row is real work through the code that commands use.

package import Enclaves
internal import Foundation
internal import Identities
internal import OpenPGP

/// Tries the crypto service, the engine and custody out, in memory; no coffer is needed.
public struct SelfTest {
  /// What a row is about.
  public enum Group: String, Sendable, CaseIterable {
    /// Digests, AES-256-GCM, keys, randomness.
    case crypto
    /// Identities that everybody can write to: version 4.
    case universal
    /// Identities of version 6.
    case advanced
    /// How private parts are kept.
    case custody

    /// Its rows, in their order.
    package var checks: [Check] {
      switch self {
      case .crypto: [.digests, .sealedData, .keysAndRandomness]
      case .universal, .advanced:
        [
          .makeIdentity, .encryptAndDecrypt, .changedMessage, .signAndVerify, .changedText, .backupAndImport,
          .publicPartURL, .revocation,
        ]
      case .custody: [.sealAndOpen]
      }
    }
  }

  /// What a row tries.
  public enum Check: String, Sendable, CaseIterable {
    /// Known digests, of memory and of a file.
    case digests
    /// Five megabytes come back as they were; changed ones, cut ones and those of another key do not.
    case sealedData = "sealed_data"
    /// A key comes back from its bytes, and no two are the same.
    case keysAndRandomness = "keys_and_randomness"
    /// Makes an identity, whose private part is sealed.
    case makeIdentity = "make_identity"
    /// A mebibyte comes back as it was.
    case encryptAndDecrypt = "encrypt_and_decrypt"
    /// A message with one bit changed gives nothing, at each of ``SelfTest/placeCount`` places.
    case changedMessage = "changed_message"
    /// A signature holds.
    case signAndVerify = "sign_and_verify"
    /// A signature over another text does not.
    case changedText = "changed_text"
    /// An identity from its backup reads a message from before.
    case backupAndImport = "backup_and_import"
    /// A public part comes back from its URL.
    case publicPartURL = "public_part_url"
    /// Nobody writes to a revoked identity, and its signatures do not count.
    case revocation
    /// Private parts open with their passcode, in their mode, and not otherwise.
    case sealAndOpen = "seal_and_open"
  }

  /// How a row ended.
  public enum Result: String, Sendable, CaseIterable {
    /// As it should.
    case passed
    /// Not as it should: a mistake in Coffer or in a library.
    case failed
    /// The machine has not enough memory to try.
    case notPossible = "not_possible"
  }

  /// One row.
  public struct Row: Sendable {
    /// What it is about.
    public let group: Group
    /// What it tried.
    public let check: Check
    /// How it ended.
    public let result: Result
    /// How long it took.
    public let milliseconds: Int

    package init(_ group: Group, _ check: Check, _ result: Result, milliseconds: Int) {
      (self.group, self.check, self.result, self.milliseconds) = (group, check, result, milliseconds)
    }
  }

  /// How many bits of a message are changed, one at a time.
  public static let placeCount = 128

  /// Changes what one half of a row hands to the other, so that the row must fail.
  package typealias Disturbance = (Group, Check, inout [UInt8]) -> Void

  private let enclave: any Enclave
  private let disturb: Disturbance

  /// A self-test with an enclave in software.
  public init() { self.init(enclave: SoftwareEnclave()) { _, _, _ in } }

  package init(enclave: any Enclave, disturbing disturb: @escaping Disturbance) {
    self.enclave = enclave
    self.disturb = disturb
  }

  /// Runs every row, in their order.
  /// - Parameter progress: is told each row when it has ended.
  public func run(_ progress: (Row) -> Void = { _ in }) -> [Row] {
    var rows: [Row] = []
    for group in Group.allCases {
      let perform = performer(of: group)
      for check in group.checks {
        rows.append(Self.row(group, check) { try perform(check) })
        progress(rows[rows.count - 1])
      }
    }
    return rows
  }

  private func performer(of group: Group) -> (Check) throws -> Void {
    let disturbed: (Check, inout [UInt8]) -> Void = { disturb(group, $0, &$1) }
    switch group {
    case .crypto: return CryptoSelfTest(disturbing: disturbed).perform
    case .universal, .advanced:
      let isUniversal = group == .universal
      return ProfileSelfTest(isUniversal: isUniversal, enclave: enclave, disturbing: disturbed).perform
    case .custody:
      let custody = CustodySelfTest(enclave: enclave) { disturbed(.sealAndOpen, &$0) }
      return { _ in try custody.perform() }
    }
  }

  private static func row(_ group: Group, _ check: Check, _ perform: () throws -> Void) -> Row {
    let start = ContinuousClock.now
    var result = Result.passed
    do { try perform() } catch let error as IdentityError {
      if case .engine(.notEnoughMemory) = error { result = .notPossible } else { result = .failed }
    } catch {
      result = .failed
    }
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    return Row(group, check, result, milliseconds: Int(milliseconds.rounded()))
  }
}

/// Something came out otherwise than it should.
struct SelfTestMismatch: Error {
  /// - Throws: itself, unless `isRight`.
  static func unless(_ isRight: Bool) throws(SelfTestMismatch) {
    if !isRight { throw SelfTestMismatch() }
  }
}
