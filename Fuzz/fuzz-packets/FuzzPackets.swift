// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a sequence of packets. What is read must be written again as it came, header and body; what
// cannot be read must be refused with an error.

import OpenPGP
import Secrets

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: data, count: count))
  do {
    try checkStream(input)
  } catch {
    // Refused: an answer as good as any other.
  }
  // The first octet as type and the rest as body reach each packet without a header that fits.
  if let first = input.first {
    check(PacketType(rawValue: first & 0x3F), body: Array(input.dropFirst()))
  }
  return 0
}

private func checkStream(_ input: [UInt8]) throws(OpenPGPError) {
  let source = MemorySource(input)
  let reader = PacketReader(source)
  while let (header, body) = try reader.next() {
    let again = try PacketHeader(MemorySource(header.bytes + [0, 0]))
    guard again == header else { fatalError("a header that was read is written as another") }
    let octets = try body.readAll()
    check(header.type, body: octets.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } })
  }
}

private func check(_ type: PacketType, body: [UInt8]) {
  let packet = Packet(type: type, body: body.span.bytes)
  guard packet.type == type else { fatalError("a packet changed its type") }
  let written = packet.body()
  guard written.withBytes({ bytes in bytes.withUnsafeBytes { $0.elementsEqual(body) } }) else {
    fatalError("a packet that was read is written with another body")
  }
}
