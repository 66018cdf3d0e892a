// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Keeps plaintext in locked memory until it may be released, as long as there is not much of it.
final class HoldingSink: ByteSink {
  private var held = SecretBytes(zeroed: 0)
  private var heldCount = 0
  /// Whether everything that was written is here.
  private(set) var isComplete = true

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    guard isComplete else { return }
    if held.count == 0 { held = SecretBytes(zeroed: Self.byteCountLimit) }
    guard bytes.byteCount <= held.count - heldCount else {
      isComplete = false
      held = SecretBytes(zeroed: 0)
      return
    }
    held.withMutableBytes { $0.copy(bytes, to: heldCount) }
    heldCount += bytes.byteCount
  }

  /// Begins again.
  func forget() {
    held.erase()
    heldCount = 0
    isComplete = true
  }

  /// Writes what was held.
  func release(to sink: any ByteSink) throws(OpenPGPError) {
    precondition(isComplete, "a part of the plaintext is not the plaintext")
    guard heldCount > 0 else { return }
    try held.withBytes { (bytes) throws(OpenPGPError) in try sink.write(bytes.extracting(0..<heldCount)) }
  }

  /// What is larger is decrypted a second time, which is cheaper than much locked memory.
  private static let byteCountLimit = SecretMemory.lockedByteCountLimit
}
