// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// The domain that only shows that the framework works (PD-14): its purpose, in words that never change.
public struct FrameworkSentinel: ProtectedPayload {
  public static let domain = ProtectedDomain.frameworkSentinel
  public static let schemaVersion: UInt16 = 1
  public static let initial = FrameworkSentinel()
  private static let purpose = Array("coffer protected data framework sentinel".utf8)

  init() {}

  public static func check(_ bytes: RawSpan) throws(MalformedPayload) {
    guard [UInt8](copying: bytes) == purpose else { throw MalformedPayload() }
  }

  public init(_ bytes: RawSpan) throws(MalformedPayload) { try Self.check(bytes) }

  public func write(to writer: inout PayloadWriter) { writer.append(Self.purpose) }
}
