// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as armor, in pieces of several sizes: however it is cut, the same comes out. What was read, and the
// input itself, must come through a writer and a reader unchanged.

import OpenPGP

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = FuzzInput(data, count)
  for scope in [ArmorReader.Scope.firstBlock, .allBlocks] {
    let read = decoded(input.source, scope)
    let whole = decoded(PieceSource(input.bytes, pieceByteCount: .max >> 1), scope)
    guard read == whole else { fatalError("armor in pieces is read differently") }
    if let read { roundTrip(read) }
  }
  roundTrip(input.bytes)
  return 0
}

/// Nil when it is refused.
private func decoded(_ source: PieceSource, _ scope: ArmorReader.Scope) -> [UInt8]? {
  try? readAll(OpenPGPInput.packets(source, scope))
}

private func roundTrip(_ bytes: [UInt8]) {
  do {
    let armored = ArraySink()
    let writer = try ArmorWriter(armored, kind: .message)
    try writer.write(bytes)
    try writer.finish()
    let again = try readAll(ArmorReader(MemorySource(armored.bytes)))
    guard again == bytes else { fatalError("armor that was written is read differently") }
  } catch {
    fatalError("armor that was written is refused: \(error)")
  }
}
