// SPDX-License-Identifier: Apache-2.0

/// A source that can be read again from its beginning.
///
/// The second reading gives exactly what the first has given, or fails with ``OpenPGPError/inputChanged``
/// before it hands out a byte that is not the same: what was decided in the first pass holds for the second.
public protocol RereadableSource: ByteSource {
  /// Goes back to the first byte. Read to the end before, or what follows has not been seen.
  func rewind() throws(OpenPGPError)
}
