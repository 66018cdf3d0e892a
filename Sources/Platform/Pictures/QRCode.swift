// SPDX-License-Identifier: Apache-2.0
//
// QR codes (ISO/IEC 18004) of texts that are given away, made by libqrencode. It only ever gets our own text, so it runs
// in this process; codes in pictures of others are found by `CodeReader`.

#if Pictures
  internal import CQRencode
  internal import Glibc
#endif

/// A QR code: a square of dark and light modules.
public struct QRCode: Sendable {
  /// How much of a code may be unreadable (ISO/IEC 18004, section 6.5.1).
  public enum ErrorCorrection: String, CaseIterable, Sendable {
    /// About 15 %.
    case medium = "M"
    /// About 7 %.
    case low = "L"
  }

  /// Modules a side, without the light ones around it: 21 to 177.
  public let sideLength: Int
  /// The level that was chosen.
  public let errorCorrection: ErrorCorrection
  private let dark: [Bool]

  /// Light modules on every side of a code (ISO/IEC 18004, section 5.3.8).
  public static let quietZone = 4
  /// Modules a side, with the light ones around it.
  public var fullSideLength: Int { sideLength + 2 * Self.quietZone }

  /// The code of a text in byte mode, with error correction of level M, or L if it does not fit with M.
  /// - Throws: ``PictureError/tooLarge`` when no code is large enough, which has room for 2,331 octets with level M and
  ///   2,953 with L; ``PictureError/invalidSize`` for an empty text; ``PictureError/noLibrary``, ``PictureError/notBuilt``.
  public init(_ text: String) throws(PictureError) {
    let octets = Array(text.utf8)
    guard !octets.isEmpty else { throw .invalidSize }
    for level in ErrorCorrection.allCases {
      guard let (side, dark) = try Self.encode(octets, level) else { continue }
      sideLength = side
      self.dark = dark
      errorCorrection = level
      return
    }
    throw .tooLarge
  }

  /// Whether the module in a column and row is dark, counted from the top left corner of the code. Everything around
  /// the code is light.
  public func isDark(_ x: Int, _ y: Int) -> Bool {
    guard (0..<sideLength).contains(x), (0..<sideLength).contains(y) else { return false }
    return dark[y * sideLength + x]
  }

  /// - Returns: nil when the text does not fit.
  private static func encode(
    _ octets: [UInt8], _ level: ErrorCorrection
  ) throws(PictureError) -> (side: Int, dark: [Bool])? {
    #if Pictures
      try unsafe encode(octets, level, coffer_qrencode_open()?.pointee)
    #else
      throw .notBuilt
    #endif
  }

  #if Pictures
    /// - Parameter library: nil for one that is missing.
    static func encode(
      _ octets: [UInt8], _ level: ErrorCorrection, _ library: coffer_qrencode?
    ) throws(PictureError) -> (side: Int, dark: [Bool])? {
      guard let library = library else { throw .noLibrary }
      let wanted = level == .medium ? QR_ECLEVEL_M : QR_ECLEVEL_L
      // 0 stands for the smallest version that has room.
      guard let code = unsafe library.QRcode_encodeData(Int32(octets.count), octets, 0, wanted) else {
        if errno == ERANGE { return nil }
        throw .encodingFailed
      }
      defer { unsafe library.QRcode_free(code) }
      let side = Int(unsafe code.pointee.width)
      // The lowest bit of a module is its colour; the others tell its part in the code.
      let dark = (0..<side * side).map { unsafe code.pointee.data[$0] & 1 == 1 }
      return (side, dark)
    }
  #endif
}
