// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// What one domain holds. There are these five types and no others.
///
/// The bytes are in Specs/protected-data.md. A reader takes exactly what a writer writes: unknown values,
/// values out of their range and bytes left over are ``MalformedPayload``, and never become defaults.
public protocol ProtectedPayload: Equatable, Sendable {
  static var domain: ProtectedDomain { get }
  /// The schema that is written, and the only one that is read; an older one is upgraded explicitly.
  static var schemaVersion: UInt16 { get }
  /// What a new domain holds.
  static var initial: Self { get }

  /// Whether these are bytes of this schema, without making copies of them.
  /// - Throws: ``MalformedPayload``
  static func check(_ bytes: RawSpan) throws(MalformedPayload)

  /// Reads the payload. What comes out is ordinary memory: keep it no longer than a call takes.
  /// - Throws: ``MalformedPayload``
  init(_ bytes: RawSpan) throws(MalformedPayload)

  /// Writes the payload. What has no encoding makes the writer refuse.
  func write(to writer: inout PayloadWriter)
}

/// Bytes that are not those of a schema.
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

/// The domain that only shows that the framework works (PD-14): its purpose, in words that never change.
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
