// SPDX-License-Identifier: Apache-2.0
//
// The system calls on descriptors, each tried again when a signal interrupts it.

internal import Glibc

/// A descriptor that somebody else opened and closes.
struct Descriptor {
  let number: Int32

  /// Fills `target` from `start` on, up to `end`, with what a single call gives.
  /// - Parameter position: where in the file to read; nil reads on where the descriptor stands.
  /// - Returns: how many bytes of `target` are filled then; no more than before at the end.
  func read(
    into target: inout MutableRawSpan, from start: Int, to end: Int, position: Int?
  ) throws(OpenPGPError) -> Int {
    let got = unsafe target.withUnsafeMutableBytes { target in
      let free = unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<end])
      while true {
        let got =
          unsafe position.map { unsafe pread(number, free.baseAddress, free.count, $0) }
          ?? Glibc.read(number, free.baseAddress, free.count)
        if got >= 0 || errno != EINTR { return got }
      }
    }
    guard got >= 0 else { throw .inputOutput(errno: errno) }
    return start + got
  }

  /// As ``read(into:from:to:position:)``, until `target` is filled up to `end` or the input ends.
  func readAll(
    into target: inout MutableRawSpan, from start: Int, to end: Int, position: Int?
  ) throws(OpenPGPError) -> Int {
    var filled = start
    while filled < end {
      let next = try read(
        into: &target, from: filled, to: end, position: position.map { $0 + filled - start })
      if next == filled { break }
      filled = next
    }
    return filled
  }

  /// Writes all of `first` and then of `second`.
  func write(_ first: RawSpan, _ second: RawSpan) throws(OpenPGPError) {
    var done = 0
    let total = first.byteCount + second.byteCount
    while done < total {
      let written = unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          unsafe writeOnce(
            UnsafeRawBufferPointer(rebasing: first[min(done, first.count)...]),
            UnsafeRawBufferPointer(rebasing: second[max(0, done - first.count)...]))
        }
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw .inputOutput(errno: errno)
      }
      done += written
    }
  }

  private func writeOnce(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
    let parts = unsafe [
      iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
      iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count),
    ]
    return unsafe writev(number, parts, 2)
  }
}
