// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// Identifies the coffer of a pair of class keys: 32 public bytes, which differ after a coffer was erased and
/// made again, so that its former keys are never given out for the new one.
public struct AgentBinding: Equatable, Sendable {
  /// Bytes in a binding.
  public static let byteCount = 32

  let bytes: [UInt8]

  /// The binding to something public that names one coffer, such as its home and its keybag's record.
  ///
  /// SHA-256 of "coffer agent v1 binding" ‖ 0 ‖ `identity`.
  public init(to identity: RawSpan) {
    var hash = SHA256()
    unsafe hash.update("coffer agent v1 binding\0".utf8Span.span.bytes)
    hash.update(identity)
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    var span = digest.mutableSpan
    var raw = unsafe span.mutableBytes
    hash.finish(into: &raw)
    self.bytes = digest
  }

  /// The bytes of a message.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = Array(bytes) }
}
