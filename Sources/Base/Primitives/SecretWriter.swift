// SPDX-License-Identifier: Apache-2.0

package import Secrets

/// Writes fields one after the other into locked memory, for records that hold a secret among public fields.
package struct SecretWriter: ~Copyable {
  private var bytes: SecretBytes
  private var count = 0

  /// - Parameter byteCount: of all fields; more than that is the caller's mistake.
  package init(byteCount: Int) { bytes = SecretBytes(zeroed: byteCount) }

  package mutating func append(_ field: RawSpan) {
    let start = count
    bytes.withMutableBytes { $0.copy(field, to: start) }
    count += field.byteCount
  }

  package mutating func append(_ field: [UInt8]) { append(field.rawSpan) }

  /// The bytes written so far.
  package consuming func finish() -> SecretBytes {
    bytes.shorten(to: count)
    return bytes
  }
}
