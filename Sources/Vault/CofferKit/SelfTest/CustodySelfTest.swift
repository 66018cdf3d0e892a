// SPDX-License-Identifier: Apache-2.0
//
// The row of the self-test about custody, with the enclave in software: a chip that is in use is left alone.

internal import Enclaves
internal import Foundation
internal import Identities
internal import KeyCustody
internal import Keychains
internal import OpenPGP
internal import ProtectedData

/// Tries custody out.
struct CustodySelfTest {
  private let enclave: any Enclave
  private let disturb: (inout [UInt8]) -> Void

  init(enclave: any Enclave, disturbing disturb: @escaping (inout [UInt8]) -> Void) {
    self.enclave = enclave
    self.disturb = disturb
  }

  /// - Throws: when something opens that must not, or does not open.
  func perform() throws {
    let now = Int64(Date().timeIntervalSince1970)
    let identities = try InMemoryIdentities(enclave)
    let identity = try identities.generate(isUniversal: true, at: now)
    try open(identity, identities, identities.authorization)
    // An agent's passcode opens and seals nothing; another coffer's does neither.
    try open(identity, identities, identities.handedOn)
    try refused {
      _ = try identities.store.generate(
        NewIdentity(userIDs: identity.userIDs), identities.handedOn, at: now)
    }
    try refused { try open(identity, identities, InMemoryIdentities(enclave).authorization) }
    try otherMode(identity, identities)
  }

  /// In another mode a private part opens as before; a changed envelope and one of the former mode do not.
  private func otherMode(_ identity: Identity, _ identities: InMemoryIdentities) throws {
    let former = try identities.keychain.items().filter { $0.account.hasSuffix(identity.fingerprint) }
    try SelfTestMismatch.unless(former.count == 1)
    // Without a finger, a mode that takes nothing else seals nothing.
    try refused {
      try identities.custody.switchMode(
        to: .highSecurityWithFinger, identities.authorization, acknowledgesMissingBackup: true)
    }
    try identities.custody.switchMode(to: .standardWithFinger, identities.authorization)
    try SelfTestMismatch.unless(try identities.custody.mode() == .standardWithFinger)
    try open(identity, identities, identities.authorization)
    var bit: [UInt8] = [1]
    disturb(&bit)
    var changed = try identities.keychain.items().filter { $0.account.hasSuffix(identity.fingerprint) }
    try SelfTestMismatch.unless(changed.count == 1 && changed != former)
    changed[0].sealed[changed[0].sealed.endIndex - 1] ^= bit[0]
    for envelopes in [changed, former] {
      try identities.keychain.update { _ in envelopes.map { .set($0) } }
      try refused { try open(identity, identities, identities.authorization) }
    }
  }

  private func open(
    _ identity: Identity, _ identities: InMemoryIdentities, _ authorization: CustodyAuthorization
  ) throws {
    let fingerprint = identity.certificate.fingerprint
    try identities.custody.withPrivateKey(fingerprint, authorization) { bytes, _ in
      try SelfTestMismatch.unless(!bytes.isEmpty)
    }
  }

  private func refused(_ body: () throws -> Void) throws {
    var isRefused = false
    do { try body() } catch is CustodyError { isRefused = true }
    try SelfTestMismatch.unless(isRefused)
  }
}
