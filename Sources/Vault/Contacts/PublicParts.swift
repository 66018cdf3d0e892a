// SPDX-License-Identifier: Apache-2.0
//
// Certificates from a file, armored or not, and to one. Only their holders' statements are taken over.

public import OpenPGP
internal import ProtectedData
public import Secrets

/// A certificate from a file, before it is a contact's.
struct IncomingCertificate {
  /// As it came, with what others say: the old key may vouch for the new one.
  let whole: Certificate
  /// What its holder says.
  let reduced: Certificate

  init(_ whole: Certificate) {
    self.whole = whole
    reduced = whole.reducedToHolderStatements()
  }

  /// The same with those of its revokers who are among `others`: their revocations are kept for certain.
  func knowing(_ others: [Certificate]) -> IncomingCertificate {
    let knowing = whole.knowing(others)
    return knowing == whole ? self : IncomingCertificate(knowing)
  }
}

/// The certificates of a file.
public struct PublicParts: Sendable {
  let incoming: [IncomingCertificate]

  /// How many there are, each once.
  public var count: Int { incoming.count }

  /// The certificates, reduced to their holders' statements, to be used once without storing them: see ``knowing(_:)``.
  public var certificates: [Certificate] { incoming.map(\.reduced) }

  /// The same, with what those of `others` have revoked who may.
  public func knowing(_ others: [Certificate]) -> PublicParts {
    PublicParts(incoming: incoming.map { $0.knowing(others) })
  }

  /// Without those of these keys.
  public func without(_ keys: Set<Fingerprint>) -> PublicParts {
    PublicParts(incoming: incoming.filter { !keys.contains($0.reduced.fingerprint) })
  }

  private init(incoming: [IncomingCertificate]) { self.incoming = incoming }

  /// - Parameter certificates: any of them may have revoked another.
  private init(_ certificates: [Certificate]) {
    incoming = certificates.map { IncomingCertificate($0.knowing(certificates)) }
  }

  /// Those of several files, to be stored in one step.
  public init(joining files: [PublicParts]) { incoming = files.flatMap(\.incoming) }

  /// Those of one mail: copies of a certificate become one, because one may have a revocation that another lacks.
  public init(merging pieces: [PublicParts]) {
    self.init(Certificate.merged(pieces.flatMap { $0.incoming.map(\.whole) }))
  }

  /// Reads all certificates. Private keys among them refuse all.
  /// - Parameter bytes: armored or not; locked memory, since it may be a private key by mistake.
  /// - Throws: `.privateKey`, `.unreadable`, `.certificateTooLarge`.
  public init(_ bytes: SharedSecretBytes) throws(ContactError) {
    let certificates: [Certificate]
    do throws(OpenPGPError) {
      let source = MemorySource(bytes)
      let packets: any ByteSource =
        try ArmorReader.isArmored(source) ? ArmorReader(source, .allBlocks) : source
      certificates = try Certificate.readAllWithoutSecrets(packets)
    } catch .malformed(.secretKeyAsCertificate) {
      throw .privateKey
    } catch {
      throw .unreadable(error)
    }
    self.init(certificates)
    for certificate in incoming { _ = try certificate.reduced.packets() }
  }
}

extension Certificate {
  /// The packets, as they are stored.
  func packets() throws(ContactError) -> [UInt8] {
    let sink = ArraySink()
    do { try write(to: sink) } catch { throw .unreadable(error) }
    guard sink.bytes.count <= Contact.certificateByteCountLimit else { throw .certificateTooLarge }
    return sink.bytes
  }

  /// A stored certificate.
  static func stored(_ key: Contact.Key) throws(ContactError) -> Certificate {
    let found: [Certificate]
    do { found = try readAll(MemorySource(key.certificate)) } catch { throw .corrupt }
    guard found.count == 1, found[0].fingerprint == key.fingerprint else { throw .corrupt }
    return found[0]
  }
}

extension Contact.Key {
  /// The public part as armored text, to give away.
  func armored() throws(ContactError) -> [UInt8] {
    let sink = ArraySink()
    do throws(OpenPGPError) {
      let armor = try ArmorWriter(sink, kind: .publicKey)
      try armor.write(certificate)
      try armor.finish()
    } catch { throw .unreadable(error) }
    return sink.bytes
  }
}
