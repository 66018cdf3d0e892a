// SPDX-License-Identifier: Apache-2.0

/// Sizes that tell little: a length is rounded up so that of its binary digits only the first few differ from zero
/// ("Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", 2019, section 4). At most 12 % are
/// added, and less with growing length.
public enum Padme {
  /// The least size of this kind that is not below `byteCount`. A size of this kind is its own.
  public static func size(_ byteCount: Int) -> Int {
    precondition((0...limit).contains(byteCount), "a length that an object can have")
    guard byteCount > 2 else { return byteCount }
    let exponent = Int.bitWidth - 1 - byteCount.leadingZeroBitCount
    let digits = Int.bitWidth - exponent.leadingZeroBitCount
    let mask = (1 << (exponent - digits)) - 1
    return (byteCount + mask) & ~mask
  }

  /// Far above every object, so that nothing overflows.
  private static let limit = 1 << 40
}
