// SPDX-License-Identifier: Apache-2.0
//
// The passphrase that opens a coffer: Unicode text kept as bytes in locked memory, never a `String`. The same
// text typed on two machines must give the same bytes, so it is brought to Unicode Normalization Form C; the
// buffers for that are locked and erased too.

internal import CUtf8proc
internal import Glibc

/// A passphrase: valid UTF-8 in Normalization Form C, 1 to ``byteCountLimit`` bytes, without NUL.
@safe
public struct Passphrase: ~Copyable, Sendable {
  /// Longer input is refused. It is room for more than 500 words, and bounds the work on hostile input.
  public static let byteCountLimit = 4096

  private let bytes: SecretBytes

  /// Takes over `bytes`, checks them and normalises them.
  /// - Throws: ``PassphraseError`` `.empty`, `.tooLong`, `.containsNUL` or `.notUTF8`.
  public init(utf8 bytes: consuming SecretBytes) throws(PassphraseError) {
    guard bytes.count > 0 else { throw .empty }
    guard bytes.count <= Self.byteCountLimit else { throw .tooLong(byteCountLimit: Self.byteCountLimit) }
    let seen = bytes.withBytes { Contents($0) }
    guard !seen.hasNUL else { throw .containsNUL }
    guard !seen.isASCII else {
      self.bytes = bytes
      return
    }
    let normalised = try Self.composed(bytes)
    guard normalised.count <= Self.byteCountLimit else {
      throw .tooLong(byteCountLimit: Self.byteCountLimit)
    }
    self.bytes = normalised
  }

  /// What a file with a secret may hold.
  public enum FileContent: Sendable {
    /// One line, as it could be typed: a second line, or a control character, is the mark of another file or of a program
    /// that ends lines in its own way, and nobody could type the passphrase again.
    case line
    /// Words with any white space between them.
    case words
  }

  /// Reads a passphrase to the end of `descriptor`, which stays open. A byte order mark and one trailing LF or CRLF are
  /// not part of it.
  /// - Throws: ``PassphraseError`` `.unreadable`, `.notOneLine`, and all that ``init(utf8:)`` throws.
  public static func read(
    descriptor: Int32, _ content: FileContent = .line
  ) throws(PassphraseError) -> Passphrase {
    var bytes: SecretBytes
    do throws(SecretReadError) {
      bytes = try SecretBytes.read(
        fromDescriptor: descriptor, byteCountLimit: byteOrderMarkCount + byteCountLimit + longestLineEnd)
    } catch {
      if case .tooLong = error { throw .tooLong(byteCountLimit: byteCountLimit) }
      throw .unreadable(error)
    }
    bytes.shorten(to: bytes.withBytes { countWithoutLineEnd($0) })
    if bytes.withBytes({ hasByteOrderMark($0) }) {
      bytes = bytes.withBytes { SecretBytes(copying: $0.extracting(byteOrderMarkCount..<$0.byteCount)) }
    }
    if content == .line, bytes.withBytes({ hasControl($0) }) { throw .notOneLine }
    return try Passphrase(utf8: bytes)
  }

  /// Reads a passphrase from the file at `path`, as ``read(descriptor:_:)`` does.
  public static func read(path: String) throws(PassphraseError) -> Passphrase {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unreadable(.cannotOpen(errno: errno)) }
    defer { close(descriptor) }
    return try read(descriptor: descriptor)
  }

  /// How many bytes the normalised text has.
  public var byteCount: Int { bytes.count }

  /// Lends the normalised UTF-8 to `body`.
  public borrowing func withBytes<R: ~Copyable, E: Error>(
    _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withBytes(body)
  }

  /// Whether both are the same text, in a time that depends on the lengths alone.
  public borrowing func isEqual(to other: borrowing Passphrase) -> Bool {
    bytes.isEqual(to: other.bytes)
  }

  // MARK: Checking and normalising

  private struct Contents {
    var hasNUL = false
    var isASCII = true

    init(_ span: RawSpan) {
      for offset in 0..<span.byteCount {
        let byte = unsafe span.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        if byte == 0 { hasNUL = true }
        if byte >= 0x80 { isASCII = false }
      }
    }
  }

  /// `utf8` in Normalization Form C (Unicode Standard Annex 15), by way of a locked buffer of scalars.
  private static func composed(_ utf8: borrowing SecretBytes) throws(PassphraseError) -> SecretBytes {
    let options = utf8proc_option_t(UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue)
    // The first call only counts; both decode strictly: no overlong forms, no surrogates.
    let scalarCount = utf8.withBytes { unsafe decompose($0, options, into: nil, scalarCapacity: 0) }
    guard scalarCount >= 0 else { throw .notUTF8 }
    // utf8proc_reencode needs one byte after the last scalar, for its NUL.
    var buffer = SecretBytes(zeroed: scalarCount * MemoryLayout<Int32>.stride + 1)
    let byteCount = utf8.withBytes { source in
      buffer.withMutableBytes { target in
        unsafe target.withUnsafeMutableBytes { raw in
          guard let scalars = unsafe raw.baseAddress?.assumingMemoryBound(to: Int32.self),
            unsafe decompose(source, options, into: scalars, scalarCapacity: scalarCount) == scalarCount
          else { return -1 }
          return unsafe utf8proc_reencode(scalars, scalarCount, options)
        }
      }
    }
    guard byteCount >= 0 else { throw .notUTF8 }
    buffer.shorten(to: byteCount)
    // Moves to a cell that fits: the scalars needed up to four times as much.
    return buffer.duplicate()
  }

  private static func decompose(
    _ source: RawSpan, _ options: utf8proc_option_t, into scalars: UnsafeMutablePointer<Int32>?,
    scalarCapacity: Int
  ) -> Int {
    unsafe source.withUnsafeBytes { raw in
      unsafe utf8proc_decompose(
        raw.baseAddress?.assumingMemoryBound(to: UInt8.self), raw.count, scalars, scalarCapacity, options)
    }
  }

  private static func countWithoutLineEnd(_ span: RawSpan) -> Int {
    let count = span.byteCount
    guard count > 0, byte(span, count - 1) == 0x0A else { return count }
    guard count > 1, byte(span, count - 2) == 0x0D else { return count - 1 }
    return count - 2
  }

  private static func hasByteOrderMark(_ span: RawSpan) -> Bool {
    span.byteCount >= byteOrderMarkCount && byte(span, 0) == 0xEF && byte(span, 1) == 0xBB
      && byte(span, 2) == 0xBF
  }

  /// Whether there is a character that ends a line, or one of ASCII's controls. NUL is another error, and a tab can be typed.
  private static func hasControl(_ span: RawSpan) -> Bool {
    for offset in 0..<span.byteCount {
      switch byte(span, offset) {
      case 0x00, 0x09: break
      case 0x01...0x1F, 0x7F: return true
      // U+0085.
      case 0xC2 where offset + 1 < span.byteCount && byte(span, offset + 1) == 0x85: return true
      // U+2028 and U+2029.
      case 0xE2
      where offset + 2 < span.byteCount && byte(span, offset + 1) == 0x80
        && byte(span, offset + 2) & 0xFE == 0xA8:
        return true
      default: break
      }
    }
    return false
  }

  private static func byte(_ span: RawSpan, _ offset: Int) -> UInt8 {
    unsafe span.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// CR LF.
  private static let longestLineEnd = 2
  /// U+FEFF, as some editors begin a file with.
  private static let byteOrderMarkCount = 3
}

/// Why bytes are not a valid passphrase. No case reveals anything of the bytes.
@nonexhaustive
public enum PassphraseError: Error, Equatable, Sendable {
  /// There are no bytes.
  case empty
  /// More bytes than a passphrase may have.
  case tooLong(byteCountLimit: Int)
  /// The bytes are not UTF-8.
  case notUTF8
  /// A NUL among the bytes; C libraries would end the passphrase there.
  case containsNUL
  /// A file has a second line, or a control character.
  case notOneLine
  /// The file or descriptor gave no passphrase.
  case unreadable(SecretReadError)
}
