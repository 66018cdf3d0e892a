// SPDX-License-Identifier: Apache-2.0

/// The domain of contacts, all of them at once (PD-13).
public struct ContactsSnapshot: ProtectedPayload {
  public static let domain = ProtectedDomain.contacts
  public static let schemaVersion: UInt16 = 1
  public static let initial = ContactsSnapshot(contacts: [])
  /// More does not fit into a payload with certificates of usual size.
  public static let countLimit = 4096

  /// In the order in which they are shown; no id twice.
  public var contacts: [Contact]

  public init(contacts: [Contact]) { self.contacts = contacts }

  // MARK: Bytes

  public static func check(_ bytes: RawSpan) throws(MalformedPayload) { _ = try fields(bytes) }

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

  public func write(to writer: inout PayloadWriter) {
    writer.append(bigEndian: UInt16(clamping: contacts.count))
    for contact in contacts { contact.write(to: &writer) }
  }
}
