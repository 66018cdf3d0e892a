// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// The content of one domain. There are exactly five conforming types.
///
/// The bytes are in Specs/protected-data.md. A reader accepts exactly the bytes that a writer writes: unknown
/// values, values out of range and trailing bytes are ``MalformedPayload``, and never become defaults.
public protocol ProtectedPayload: Equatable, Sendable {
  static var domain: ProtectedDomain { get }
  /// The schema that is written, and the only one that is read; an older one is upgraded explicitly.
  static var schemaVersion: UInt16 { get }
  /// The content of a new domain.
  static var initial: Self { get }

  /// Whether these are bytes of this schema, without making copies of them.
  /// - Throws: ``MalformedPayload``
  static func check(_ bytes: RawSpan) throws(MalformedPayload)

  /// Reads the payload. The value is in ordinary memory: do not keep it longer than a call.
  /// - Throws: ``MalformedPayload``
  init(_ bytes: RawSpan) throws(MalformedPayload)

  /// Writes the payload. A value without an encoding makes the writer refuse.
  func write(to writer: inout PayloadWriter)
}

/// Bytes that do not match the schema.
public struct MalformedPayload: Error, Equatable, Sendable {
  /// An error without details: a payload may be private.
  public init() {}
}

extension ProtectedDomain {
  var payload: any ProtectedPayload.Type {
    switch self {
    case .privateKeyControl: PrivateKeyControl.self
    case .keyMetadata: KeyMetadata.self
    case .protectedSettings: ProtectedSettings.self
    case .contacts: ContactsSnapshot.self
    case .frameworkSentinel: FrameworkSentinel.self
    }
  }
}

/// The domain that only shows that the framework works (PD-14): a constant text.
public struct FrameworkSentinel: ProtectedPayload {
  /// ``ProtectedDomain/frameworkSentinel``.
  public static let domain = ProtectedDomain.frameworkSentinel
  /// Schema 1.
  public static let schemaVersion: UInt16 = 1
  /// The sentinel; there is only one.
  public static let initial = FrameworkSentinel()
  private static let purpose = Array("coffer protected data framework sentinel".utf8)

  init() {}

  /// Checks that the bytes are the sentinel's words.
  public static func check(_ bytes: RawSpan) throws(MalformedPayload) {
    guard [UInt8](copying: bytes) == purpose else { throw MalformedPayload() }
  }

  /// Reads the sentinel.
  public init(_ bytes: RawSpan) throws(MalformedPayload) { try Self.check(bytes) }

  /// Writes the sentinel's words.
  public func write(to writer: inout PayloadWriter) { writer.append(Self.purpose) }
}
