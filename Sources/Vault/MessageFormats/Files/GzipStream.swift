// SPDX-License-Identifier: Apache-2.0
//
// Reading gzip (RFC 1952) as it comes, in a fixed amount of memory, however much comes out. Several members one after
// the other are one file, as `cat` makes it. zlib keeps the last 32 KiB of what came out, which are erased.

internal import CSystem
internal import CZlib
internal import Glibc

/// What a gzip file decompresses to.
@safe
final class GzipStream {
  /// At one address for its whole life: zlib remembers where it is.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var input = ByteBuffer(capacity: inputByteCount)
  private var used = 0
  /// Whether the last member is complete, and nothing of another one has come.
  private var isBetween = false
  private var isAtEnd = false

  init() throws(MessageFormatError) {
    unsafe stream.initialize(to: z_stream())
    unsafe stream.pointee.zalloc = { _, count, size in unsafe calloc(Int(count), Int(size)) }
    unsafe stream.pointee.zfree = { _, memory in
      guard let memory = unsafe memory else { return }
      unsafe coffer_erase(memory, coffer_allocated_size(memory))
      unsafe free(memory)
    }
    // 16 means gzip alone, with its checksum.
    guard unsafe coffer_inflate_init(stream, MAX_WBITS + 16) == Z_OK else { throw .cannotRead(errno: ENOMEM) }
  }

  deinit {
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Whether a file begins like this.
  static func isGzip(_ beginning: RawSpan) -> Bool {
    beginning.byteCount >= 3 && beginning.byte(0) == 0x1F && beginning.byte(1) == 0x8B
      && beginning.byte(2) == UInt8(Z_DEFLATED)
  }

  /// Fills the beginning of `output`, which is not empty; returns how much, zero at the end.
  /// - Parameter readMore: appends compressed bytes; zero at their end.
  func read(
    into output: UnsafeMutableRawBufferPointer,
    _ readMore: (inout ByteBuffer) throws(MessageFormatError) -> Int
  ) throws(MessageFormatError) -> Int {
    while !isAtEnd {
      if used == input.count {
        input.removeAll()
        used = 0
        guard try readMore(&input) > 0 else {
          guard isBetween else { throw .damagedCompression }
          break
        }
      }
      if isBetween {
        // Tapes and disks fill their last block with zeros.
        if input[used] == 0 { break }
        isBetween = false
        guard unsafe inflateReset(stream) == Z_OK else { throw .damagedCompression }
      }
      let (result, produced) = unsafe inflateOnce(into: output)
      switch result {
      case Z_STREAM_END: isBetween = true
      // There was no room, or nothing to go on with.
      case Z_OK, Z_BUF_ERROR: break
      default: throw .damagedCompression
      }
      if produced > 0 { return produced }
    }
    isAtEnd = true
    return 0
  }

  private func inflateOnce(into output: UnsafeMutableRawBufferPointer) -> (result: Int32, produced: Int) {
    let room = min(output.count, Int(Int32.max))
    let count = input.count
    return unsafe input.withMutableBytes(in: used..<count) { bytes in
      unsafe stream.pointee.next_in = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe stream.pointee.avail_in = UInt32(bytes.count)
      unsafe stream.pointee.next_out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe stream.pointee.avail_out = UInt32(room)
      let result = unsafe inflate(stream, Z_NO_FLUSH)
      used = unsafe count - Int(stream.pointee.avail_in)
      return unsafe (result, room - Int(stream.pointee.avail_out))
    }
  }

  private static let inputByteCount = 64 << 10
}
