// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenPGP

/// The domain of contacts, all of them at once (PD-13).
public struct ContactsSnapshot: ProtectedPayload {
  /// ``ProtectedDomain/contacts``.
  public static let domain = ProtectedDomain.contacts
  /// Schema 2.
  public static let schemaVersion: UInt16 = 2
  /// No contacts.
  public static let initial = ContactsSnapshot(contacts: [])
  /// With certificates of usual size, more contacts would not fit into a payload.
  public static let countLimit = 4096

  /// In the order in which they came; no id and no fingerprint twice.
  public var contacts: [Contact]

  /// A snapshot with these contacts. Writing it checks the rules.
  public init(contacts: [Contact]) { self.contacts = contacts }

  // MARK: Bytes

  /// Checks all contacts, and that no id and no fingerprint occurs twice.
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
    guard bytes.areDistinct(found.map(\.id)),
      bytes.areDistinct(found.flatMap { $0.keys.map(\.fingerprint) })
    else { throw MalformedPayload() }
    return found
  }

  /// Writes the number of contacts in two bytes, then each contact.
  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: UInt16(clamping: contacts.count))
    for contact in contacts { contact.write(to: &writer) }
  }
}

/// Somebody whose public parts the user has (PD-13).
public struct Contact: Equatable, Sendable, Identifiable {
  /// Bytes of a name: as many as of a user ID, which it is usually taken from.
  public static let nameByteCountLimit = PGPKeyIdentity.userIDByteCountLimit
  /// Bytes of a certificate, reduced to its holder's own statements.
  public static let certificateByteCountLimit = PGPKeyIdentity.certificateByteCountLimit
  /// Keys of one contact: the present one, and those before and after it.
  public static let keyCountLimit = 16

  /// One of a contact's keys.
  public struct Key: Equatable, Sendable {
    /// What a key is used for. The numbers are stored.
    public enum State: UInt8, Sendable, CaseIterable {
      /// New messages go to it.
      case inUse = 1
      /// It was in use.
      case former = 2
      /// It came for an address of the contact, and the user has not decided about it.
      case waiting = 3
    }

    /// Where a key came from. The numbers are stored.
    public enum Source: UInt8, Sendable, CaseIterable {
      /// A file, or standard input.
      case file = 1
    }

    /// Of the primary key, which is of version 4 or 6.
    public let fingerprint: Fingerprint
    /// The transferable public key, as packets; at most ``Contact/certificateByteCountLimit`` bytes.
    public var certificate: [UInt8]
    /// What it is used for.
    public var state: State
    /// Seconds since 1970, UTC.
    public var firstSeen: UInt32
    /// Where it came from first.
    public var source: Source

    /// A key with these values. Writing its snapshot checks the rules.
    public init(
      fingerprint: Fingerprint, certificate: [UInt8], state: State, firstSeen: UInt32, source: Source = .file
    ) {
      self.fingerprint = fingerprint
      self.certificate = certificate
      self.state = state
      self.firstSeen = firstSeen
      self.source = source
    }
  }

  /// The proof that the key in use is the contact's: the user has compared its fingerprint.
  public struct Verification: Equatable, Sendable {
    /// How a fingerprint was compared. The numbers are stored.
    public enum Manner: UInt8, Sendable, CaseIterable {
      /// Four groups, chosen at random, were typed.
      case groups = 1
      /// All of it was given.
      case wholeFingerprint = 2
      /// It was in a QR code.
      case code = 3
    }

    /// Seconds since 1970, UTC.
    public var date: UInt32
    /// How it was compared.
    public var manner: Manner
    /// Of the key in use.
    public var fingerprint: Fingerprint

    /// A verification with these values. Writing its snapshot checks the rules.
    public init(date: UInt32, manner: Manner, fingerprint: Fingerprint) {
      self.date = date
      self.manner = manner
      self.fingerprint = fingerprint
    }
  }

  /// Random; names the contact for its whole life.
  public let id: UUID
  /// The name to show; UTF-8 of at most ``nameByteCountLimit`` bytes.
  public var displayName: String
  /// From one to ``keyCountLimit``; at most one is in use, and no fingerprint occurs twice in a snapshot.
  public var keys: [Key]
  /// Nil when not verified.
  public var verification: Verification?
  /// When a verification failed last: seconds since 1970, UTC.
  public var failedVerification: UInt32?

  /// A contact with these values; by default not verified. Writing its snapshot checks the rules.
  public init(
    id: UUID, displayName: String, keys: [Key], verification: Verification? = nil,
    failedVerification: UInt32? = nil
  ) {
    self.id = id
    self.displayName = displayName
    self.keys = keys
    self.verification = verification
    self.failedVerification = failedVerification
  }

  /// The key that new messages go to; nil while none is in use.
  public var keyInUse: Key? { keys.first { $0.state == .inUse } }
}

// MARK: - Bytes

extension Contact {
  /// A contact in a payload: values of fixed length, and the ranges of the others.
  struct Fields {
    struct Key {
      let fingerprint: Range<Int>
      let certificate: Range<Int>
      let state: Contact.Key.State
      let firstSeen: UInt32
      let source: Contact.Key.Source
    }

    let id: Range<Int>
    let displayName: Range<Int>
    let verification: (date: UInt32, manner: Verification.Manner, fingerprint: Range<Int>)?
    let failedVerification: UInt32?
    let keys: [Key]

    init(_ bytes: RawSpan, _ cursor: inout PayloadCursor) throws(MalformedPayload) {
      id = try cursor.range(bytes, count: 16)
      displayName = try cursor.text(bytes, byteCountLimit: nameByteCountLimit)
      if try cursor.flag(bytes) {
        verification = (try cursor.uint32(bytes), try cursor.one(bytes), try cursor.fingerprint(bytes))
      } else {
        verification = nil
      }
      failedVerification = try cursor.flag(bytes) ? try cursor.uint32(bytes) : nil
      var keys: [Key] = []
      for _ in 0..<(try cursor.count(bytes, limit: keyCountLimit)) {
        let (state, source): (Contact.Key.State, Contact.Key.Source) =
          (try cursor.one(bytes), try cursor.one(bytes))
        let firstSeen = try cursor.uint32(bytes)
        let fingerprint = try cursor.fingerprint(bytes)
        let certificate = try cursor.blob(bytes, byteCountLimit: certificateByteCountLimit)
        keys.append(
          Key(
            fingerprint: fingerprint, certificate: certificate, state: state, firstSeen: firstSeen,
            source: source))
      }
      self.keys = keys
      try checkKeys(bytes)
    }

    /// One key is in use, or none; only the key in use is verified.
    private func checkKeys(_ bytes: RawSpan) throws(MalformedPayload) {
      let used = keys.filter { $0.state == .inUse }
      guard !keys.isEmpty, used.count <= 1 else { throw MalformedPayload() }
      guard let verification else { return }
      guard let key = used.first,
        bytes.array(key.fingerprint) == bytes.array(verification.fingerprint)
      else { throw MalformedPayload() }
    }
  }

  init(_ fields: Fields, _ bytes: RawSpan) {
    let id = unsafe bytes.extracting(fields.id).unsafeLoadUnaligned(as: uuid_t.self)
    self.init(
      id: UUID(uuid: id), displayName: bytes.text(fields.displayName),
      keys: fields.keys.map { key in
        Key(
          fingerprint: bytes.fingerprint(key.fingerprint), certificate: bytes.array(key.certificate),
          state: key.state, firstSeen: key.firstSeen, source: key.source)
      },
      verification: fields.verification.map { found in
        Verification(
          date: found.date, manner: found.manner, fingerprint: bytes.fingerprint(found.fingerprint))
      },
      failedVerification: fields.failedVerification)
  }

  func write(to writer: inout PayloadWriter) {
    unsafe withUnsafeBytes(of: id.uuid) { writer.append(unsafe Array($0)) }
    writer.append(text: displayName)
    writer.append(verification != nil)
    if let verification {
      writer.append(bigEndian: verification.date)
      writer.append(verification.manner.rawValue)
      writer.append(verification.fingerprint)
    }
    writer.append(failedVerification != nil)
    if let failedVerification { writer.append(bigEndian: failedVerification) }
    writer.append(bigEndian: UInt16(clamping: keys.count))
    for key in keys {
      writer.append(key.state.rawValue)
      writer.append(key.source.rawValue)
      writer.append(bigEndian: key.firstSeen)
      writer.append(key.fingerprint)
      writer.append(blob: key.certificate)
    }
  }
}
