// SPDX-License-Identifier: Apache-2.0
//
// The hash of a file. A second thread reads ahead while this one hashes: reading from the page cache
// costs a tenth of hashing, and side by side it costs nothing. The window is 1 MiB, in two halves that
// go back and forth between the threads.

internal import Dispatch
internal import Glibc
internal import Secrets
internal import Synchronization

enum FileDigest {
  static let windowByteCount = 1 << 20

  /// The SHA-256 of the file at `path`; symbolic links are followed, directories refused.
  static func sha256(path: String) throws(CryptoError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ENOENT || errno == ENOTDIR ? .fileNotFound : .fileReadError
    }
    let halves = [Half(), Half()]
    var hash = SHA256()

    // A short file, the usual case, needs no second thread.
    let isShort = halves[0].fill(from: descriptor) == false
    if isShort {
      defer { close(descriptor) }
      _ = try halves[0].drain(into: &hash)
      return hash.finish()
    }

    // The reader owns the descriptor from here, and stops at the end of the file or at an error; this
    // side drains until then, so neither waits for the other for ever.
    DispatchQueue.global().async {
      var turn = 1
      while halves[turn & 1].fill(from: descriptor) { turn += 1 }
      close(descriptor)
    }
    var turn = 0
    while try halves[turn & 1].drain(into: &hash) { turn += 1 }
    return hash.finish()
  }

  /// One half of the window: filled by the reader, drained by the hasher, in turn.
  private final class Half: Sendable {
    private struct Content: ~Copyable {
      var bytes = SecretBytes(zeroed: windowByteCount / 2)
      var count: Result<Int, CryptoError> = .success(0)

      /// A half that is not full is the file's last.
      var isWhole: Bool { count == .success(bytes.count) }
    }

    private let content = Mutex(Content())
    private let isEmpty = DispatchSemaphore(value: 1)
    private let isFull = DispatchSemaphore(value: 0)

    /// Waits until this half is empty and fills it. False when the file ended or failed in it.
    func fill(from descriptor: Int32) -> Bool {
      isEmpty.wait()
      defer { isFull.signal() }
      return content.withLock { content in
        content.count = read(descriptor, into: &content.bytes)
        return content.isWhole
      }
    }

    /// Waits until this half is full and hashes it. False when it was the last.
    func drain(into hash: inout SHA256) throws(CryptoError) -> Bool {
      isFull.wait()
      defer { isEmpty.signal() }
      let outcome = content.withLock { content -> Result<Bool, CryptoError> in
        content.count.map { count in
          content.bytes.withBytes { hash.update($0.extracting(first: count)) }
          return content.isWhole
        }
      }
      return try outcome.get()
    }
  }
}

extension FileDigest {
  /// Fills `buffer` as far as the file goes.
  private static func read(
    _ descriptor: Int32, into buffer: inout SecretBytes
  ) -> Result<Int, CryptoError> {
    buffer.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { buffer in
        var filled = 0
        while filled < buffer.count {
          let got = unsafe Glibc.read(descriptor, buffer.baseAddress! + filled, buffer.count - filled)
          if got == 0 { break }
          if got > 0 { filled += got } else if errno != EINTR { return .failure(.fileReadError) }
        }
        return .success(filled)
      }
    }
  }
}
