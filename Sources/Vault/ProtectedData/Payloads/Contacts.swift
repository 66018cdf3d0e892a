// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The domain of contacts, all of them at once (PD-13).
public struct ContactsSnapshot: ProtectedPayload {
  /// ``ProtectedDomain/contacts``.
  public static let domain = ProtectedDomain.contacts
  /// Schema 1.
  public static let schemaVersion: UInt16 = 1
  /// No contacts.
  public static let initial = ContactsSnapshot(contacts: [])
  /// With certificates of usual size, more contacts would not fit into a payload.
  public static let countLimit = 4096

  /// In the order in which they are shown; no id twice.
  public var contacts: [Contact]

  /// A snapshot with these contacts. Writing it checks the rules.
  public init(contacts: [Contact]) { self.contacts = contacts }

  // MARK: Bytes

  /// Checks all contacts, and that no id occurs twice.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

  /// Reads all contacts.
  public init(_ bytes: RawSpan) throws(MalformedPayload) {
    contacts = try Self.fields(bytes).map { Contact($0, bytes) }
  }

  private static func fields(_ bytes: RawSpan) throws(MalformedPayload) -> [Contact.Fields] {
    var cursor = PayloadCursor()
    var found: [Contact.Fields] = []
    for _ in 0..<(try cursor.count(bytes, limit: countLimit)) {
      found.append(try Contact.Fields(bytes, &cursor))
    }
    try cursor.finish(bytes)
    guard bytes.areDistinct(found.map(\.id)) else { throw MalformedPayload() }
    return found
  }

  /// Writes the number of contacts in two bytes, then each contact.
  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: UInt16(clamping: contacts.count))
    for contact in contacts { contact.write(to: &writer) }
  }
}

/// The owner of a certificate that the user has (PD-13).
public struct Contact: Equatable, Sendable, Identifiable {
  /// Bytes of a name: as many as of a user ID, which it is usually taken from.
  public static let nameByteCountLimit = PGPKeyIdentity.userIDByteCountLimit
  /// Bytes of a certificate.
  public static let certificateByteCountLimit = PGPKeyIdentity.certificateByteCountLimit

  /// Random; names the contact for its whole life.
  public let id: UUID
  /// The name to show; UTF-8 of at most ``nameByteCountLimit`` bytes.
  public var displayName: String
  /// The transferable public key, as packets.
  public var certificate: [UInt8]
  /// Whether the user has compared the fingerprint.
  public var isVerified: Bool
  /// Seconds since 1970, UTC.
  public var added: UInt64

  /// A contact with these values. Writing its snapshot checks the rules.
  public init(id: UUID, displayName: String, certificate: [UInt8], isVerified: Bool, added: UInt64) {
    self.id = id
    self.displayName = displayName
    self.certificate = certificate
    self.isVerified = isVerified
    self.added = added
  }
}

// MARK: - Bytes

extension Contact {
  /// A contact in a payload: values of fixed length, and the ranges of the others.
  struct Fields {
    let id: Range<Int>
    let displayName: Range<Int>
    let certificate: Range<Int>
    let isVerified: Bool
    let added: UInt64

    init(_ bytes: RawSpan, _ cursor: inout PayloadCursor) throws(MalformedPayload) {
      id = try cursor.range(bytes, count: 16)
      added = try cursor.uint64(bytes)
      isVerified = try cursor.flag(bytes)
      displayName = try cursor.text(bytes, byteCountLimit: nameByteCountLimit)
      certificate = try cursor.blob(bytes, byteCountLimit: certificateByteCountLimit)
    }
  }

  init(_ fields: Fields, _ bytes: RawSpan) {
    let id = unsafe bytes.extracting(fields.id).unsafeLoadUnaligned(as: uuid_t.self)
    self.init(
      id: UUID(uuid: id), displayName: bytes.text(fields.displayName),
      certificate: bytes.array(fields.certificate), isVerified: fields.isVerified, added: fields.added)
  }

  func write(to writer: inout PayloadWriter) {
    unsafe withUnsafeBytes(of: id.uuid) { writer.append(unsafe Array($0)) }
    writer.append(bigEndian: added)
    writer.append(isVerified)
    writer.append(text: displayName)
    writer.append(blob: certificate)
  }
}
