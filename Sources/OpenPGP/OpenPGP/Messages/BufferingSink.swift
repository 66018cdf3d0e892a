// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Keeps plaintext in locked memory until it may be released, as long as there is not much of it.
final class BufferingSink: ByteSink {
  private var held = SecretBytes(zeroed: 0)
  private var heldCount = 0
  /// Whether everything that was written is here.
  private(set) var isComplete = true

  func write(_ bytes: RawSpan) throws(OpenPGPError) {
    guard isComplete else { return }
    let count = heldCount + bytes.byteCount
    guard count <= Self.byteCountLimit else {
      isComplete = false
      held = SecretBytes(zeroed: 0)
      return
    }
    if count > held.count { enlarge(to: min(max(2 * count, Self.firstByteCount), Self.byteCountLimit)) }
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

  private func enlarge(to byteCount: Int) {
    var larger = SecretBytes(zeroed: byteCount)
    larger.withMutableBytes { larger in
      held.withBytes { larger.copy($0.extracting(0..<heldCount), to: 0) }
    }
    held = larger
  }

  private static let firstByteCount = 16 << 10
  /// What is larger is decrypted a second time, which is cheaper than much locked memory.
  private static let byteCountLimit = SecretMemory.lockedByteCountLimit
}
