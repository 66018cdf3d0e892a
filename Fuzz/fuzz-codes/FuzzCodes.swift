// SPDX-License-Identifier: Apache-2.0
//
// What a picture of anybody reaches in the process that finds codes, and what that process could answer. The first octet
// says which: a list of texts as an answer has it, a picture's file, or the modules of a code, a bit each.

import Pictures
import Secrets

/// Opened once: it is for a process that scans one picture, and scanning does not change it.
nonisolated(unsafe) private let scanner = CodeScanner(library: CodeReader.library)

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard scanner != nil else { fatalError("libzbar is missing: scripts/packages installs it") }
  let input = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: data, count: count))
  guard count > 0 else { return 0 }
  let rest = input.extracting(1..<count)
  switch input.unsafeLoad(as: UInt8.self) % 3 {
  case 0: readAnswer(rest)
  case 1: scan(rest)
  default: scanModules(rest)
  }
  return 0
}

/// A list that is read has the octets that say so.
private func readAnswer(_ list: RawSpan) {
  guard let texts = try? CodeTexts.read(list) else { return }
  let count = texts.reduce(0) { $0 + 4 + $1.count }
  guard count == list.byteCount, texts.allSatisfy({ $0.count <= PictureLimits.codeByteCount }) else {
    fatalError("a list was read that is not what was written")
  }
}

/// What is found is a list that is read.
private func scan(_ file: RawSpan) {
  guard let list = try? CodeScanner.texts(in: file, scanner) else { return }
  let isRead = list.withBytes { bytes in (try? CodeTexts.read(bytes)) != nil }
  guard isRead else { fatalError("a list was written that is not read") }
}

/// The first octet is the number of modules a side; each is three pixels wide.
private func scanModules(_ bits: RawSpan) {
  guard bits.byteCount > 0 else { return }
  let side = max(1, Int(bits.unsafeLoad(as: UInt8.self)))
  guard var picture = try? Raster(width: 3 * side, height: 3 * side) else { return }
  picture.withMutablePixels { pixels in
    for y in 0..<3 * side {
      for x in 0..<3 * side {
        let bit = y / 3 * side + x / 3
        let isDark =
          1 + bit / 8 < bits.byteCount
          && bits.unsafeLoad(fromByteOffset: 1 + bit / 8, as: UInt8.self) >> (bit % 8) & 1 == 1
        for part in 0..<3 {
          pixels.storeBytes(
            of: isDark ? 0 : 255, toByteOffset: 3 * (y * 3 * side + x) + part, as: UInt8.self)
        }
      }
    }
  }
  guard let file = try? PNGEncoder.encode(picture) else { return }
  file.withBytes { scan($0) }
}
