// SPDX-License-Identifier: Apache-2.0

/// A source that can be read again from its beginning.
///
/// The second reading gives exactly what the first has given, or fails with ``OpenPGPError/inputChanged``
/// before it hands out a byte that is not the same: what was decided in the first pass holds for the second.
public protocol RewindableSource: ByteSource {
  /// Goes back to the first byte. What lies beyond the furthest byte that was read before has not been seen.
  func rewind() throws(OpenPGPError)

  /// True at first. A caller that recognises by itself whether what it reads again is what it has read before,
  /// by an authentication tag of its own, sets it to false and saves the cost.
  var checksSecondReading: Bool { get set }
}
