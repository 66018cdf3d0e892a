// SPDX-License-Identifier: Apache-2.0
//
// The rows of the self-test about identities of one profile. `disturb` stands between the halves of a row: it gets what
// a failure would have changed.

internal import Contacts
internal import Correspondence
internal import Enclaves
internal import Foundation
internal import Identities
internal import OpenPGP
internal import Primitives
internal import Secrets

/// Tries one profile out. The first row makes the identity that the others use.
final class ProfileSelfTest {
  private let isUniversal: Bool
  private let enclave: any Enclave
  private let disturb: (SelfTest.Check, inout [UInt8]) -> Void
  /// The identity was made an hour ago, so that what is said of it now is newer.
  private let now = Int64(Date().timeIntervalSince1970)
  private var time: Timestamp { Timestamp(secondsSince1970: UInt32(clamping: now)) }
  private var made: (identities: InMemoryIdentities, identity: Identity)?

  private static let longByteCount = 1 << 20
  private static let shortByteCount = 4096
  /// Octets at the beginning of a message that are about its recipient and not yet encrypted data.
  private static let recipientByteCount = 128

  init(
    isUniversal: Bool, enclave: any Enclave,
    disturbing disturb: @escaping (SelfTest.Check, inout [UInt8]) -> Void
  ) {
    self.isUniversal = isUniversal
    self.enclave = enclave
    self.disturb = disturb
  }

  /// Does one row.
  /// - Throws: when it does not come out as it should; `IdentityError.engine(.notEnoughMemory)`.
  func perform(_ check: SelfTest.Check) throws {
    switch check {
    case .makeIdentity: try makeIdentity()
    case .encryptAndDecrypt: try encryptAndDecrypt()
    case .changedMessage: try changedMessage()
    case .signAndVerify: try signAndVerify()
    case .changedText: try changedText()
    case .backupAndImport: try backupAndImport()
    case .publicPartURL: try publicPartURL()
    case .revocation: try revocation()
    case .digests, .sealedData, .keysAndRandomness, .sealAndOpen: throw SelfTestMismatch()
    }
  }

  private func present() throws -> (identities: InMemoryIdentities, identity: Identity) {
    guard let made else { throw SelfTestMismatch() }
    return made
  }

  // MARK: Rows

  private func makeIdentity() throws {
    let identities = try InMemoryIdentities(enclave)
    let identity = try identities.generate(isUniversal: isUniversal, at: now - 3600)
    try SelfTestMismatch.unless(
      identity.state == .good && identity.hasPrivatePart && identity.version == (isUniversal ? 4 : 6))
    let listed = try identities.store.all(at: now).map(\.fingerprint)
    try SelfTestMismatch.unless(listed == [identity.fingerprint])
    made = (identities, identity)
  }

  private func encryptAndDecrypt() throws {
    let (identities, identity) = try present()
    let text = Self.random(Self.longByteCount)
    var message = try encrypted(text, to: identity)
    disturb(.encryptAndDecrypt, &message)
    let (found, result) = try identities.decrypt(message, for: identity)
    try SelfTestMismatch.unless(found == text)
    let isNew = if case .version2 = result.format { true } else { false }
    try SelfTestMismatch.unless(isNew != isUniversal)
  }

  private func changedMessage() throws {
    let (identities, identity) = try present()
    let text = Self.random(Self.shortByteCount)
    let message = try encrypted(text, to: identity)
    try SelfTestMismatch.unless(try identities.decrypt(message, for: identity).text == text)
    var bit: [UInt8] = [1]
    disturb(.changedMessage, &bit)
    let rest = message.count - Self.recipientByteCount
    for place in 0..<SelfTest.placeCount {
      var changed = message
      changed[Self.recipientByteCount + place * rest / SelfTest.placeCount] ^= bit[0]
      var isRefused = false
      do { _ = try identities.decrypt(changed, for: identity) } catch is OpenPGPError { isRefused = true }
      try SelfTestMismatch.unless(isRefused)
    }
  }

  private func signAndVerify() throws {
    let text = Self.random(Self.shortByteCount)
    var signature = try signature(over: text)
    disturb(.signAndVerify, &signature)
    try SelfTestMismatch.unless(try verdict(on: signature, over: text).grade == .verified)
  }

  private func changedText() throws {
    let text = Self.random(Self.shortByteCount)
    let signature = try signature(over: text)
    var bit: [UInt8] = [1]
    disturb(.changedText, &bit)
    for place in [0, text.count / 2, text.count - 1] {
      var changed = text
      changed[place] ^= bit[0]
      let verdict = try verdict(on: signature, over: changed)
      try SelfTestMismatch.unless(verdict.grade == .invalid && verdict.decisive?.reason == .changed)
    }
  }

  private func backupAndImport() throws {
    let (identities, identity) = try present()
    let text = Self.random(Self.shortByteCount)
    let message = try encrypted(text, to: identity)
    let passphrase = SharedSecretBytes(SystemRandom.secretBytes(count: 32))
    var backup = try identities.store.backupOctets(identity, under: passphrase, identities.authorization)
    disturb(.backupAndImport, &backup)
    let file = try KeyFile(SharedSecretBytes(SecretBytes(copying: backup.rawSpan)), at: now)
    try SelfTestMismatch.unless(file.keys.count == 1 && file.keys[0].isProtected)
    let opened = try file.keys[0].opened([passphrase])
    let elsewhere = try InMemoryIdentities(enclave)
    try elsewhere.store.importKeys([opened], elsewhere.authorization, at: now)
    let imported = try elsewhere.store.all(at: now)
    try SelfTestMismatch.unless(imported.map(\.fingerprint) == [identity.fingerprint])
    try SelfTestMismatch.unless(try elsewhere.decrypt(message, for: imported[0]).text == text)
  }

  private func publicPartURL() throws {
    let (_, identity) = try present()
    let given = try packets([identity.certificate])
    var url = Array(try PublicPartURL.text(of: given).utf8)
    disturb(.publicPartURL, &url)
    let found = try PublicParts(url: url.rawSpan)
    try SelfTestMismatch.unless(try packets(found.certificates) == given)
  }

  private func revocation() throws {
    let (identities, identity) = try present()
    let text = Self.random(Self.shortByteCount)
    let before = try signature(over: text)
    let revoked = try identities.store.make(
      .revocation(.compromised), of: identity, identities.authorization, at: now)
    try SelfTestMismatch.unless(revoked.state == .revoked)
    var given = try revoked.publicPart()
    disturb(.revocation, &given)
    let parts = try PublicParts(SharedSecretBytes(SecretBytes(copying: given.rawSpan)))
    try SelfTestMismatch.unless(try packets(parts.certificates) == packets([revoked.certificate]))
    var isRefused = false
    do { _ = try outgoing(to: .stranger(parts.certificates[0])) } catch is RecipientProblems {
      isRefused = true
    }
    try SelfTestMismatch.unless(isRefused)
    let verdict = try verdict(on: before, over: text, by: revoked)
    try SelfTestMismatch.unless(verdict.grade == .invalid)
    guard case .revoked = verdict.decisive?.reason else { throw SelfTestMismatch() }
  }

  // MARK: What commands do

  private static func random(_ count: Int) -> [UInt8] {
    SystemRandom.secretBytes(count: count).withBytes { [UInt8](copying: $0) }
  }

  private func packets(_ certificates: [Certificate]) throws -> [UInt8] {
    let sink = ArraySink()
    for certificate in certificates { try certificate.write(to: sink) }
    return sink.bytes
  }

  private func outgoing(to correspondent: Correspondent) throws -> OutgoingMessage {
    try OutgoingMessage(to: [("it", correspondent)], signer: nil, own: nil, at: time)
  }

  private func encrypted(_ text: [UInt8], to identity: Identity) throws -> [UInt8] {
    let sink = ArraySink()
    try outgoing(to: .identity(identity)).encryption(passwords: [])
      .encrypt(from: MemorySource(text), to: sink)
    return sink.bytes
  }

  private func signature(over text: [UInt8]) throws -> [UInt8] {
    let (identities, identity) = try present()
    let key = BorrowedKey(
      try identity.signingKey(at: time), of: identity.certificate.fingerprint, lend: identities.lender)
    let sink = ArraySink()
    for signature in try DetachedSigning([key], time: time).sign(MemorySource(text)) {
      try Packet.signature(signature).write(to: sink)
    }
    return sink.bytes
  }

  private func verdict(
    on signature: [UInt8], over text: [UInt8], by identity: Identity? = nil
  ) throws -> Verdict {
    let judge = SignatureJudge(
      AddressBook(contacts: [], identities: [try identity ?? present().identity], at: time))
    let signatures = try SignatureList(reading: MemorySource(signature)).signatures
    let results = try DetachedVerification(judge.verifier).verify(signatures, over: MemorySource(text))
    return judge.verdict(results, isEncrypted: false)
  }
}
