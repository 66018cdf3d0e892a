// SPDX-License-Identifier: Apache-2.0

/// Reads another source on a thread of its own, ahead of what is asked for: for work that keeps this thread
/// busy, such as hashing.
public final class ReadAheadSource: ByteSource {
  /// `source` belongs to this one from now on.
  public init(_ source: any ByteSource) { preconditionFailure("not built yet") }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    preconditionFailure("not built yet")
  }

  public func consume(_ count: Int) { preconditionFailure("not built yet") }
}
