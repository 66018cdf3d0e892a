// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a cleartext signed message: however it is cut, the same text and signatures come out, and
// without a certificate nothing is released.

import OpenPGP

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = FuzzInput(data, count)
  let read = try? CleartextMessage(input.source)
  let whole = try? CleartextMessage(MemorySource(input.bytes))
  guard read?.signatures == whole?.signatures, text(read) == text(whole) else {
    fatalError("a message in pieces is read differently")
  }
  guard let read else { return 0 }
  let verifier = SignatureVerifier(
    certificates: [], policy: .standard, time: Timestamp(secondsSince1970: 1_800_000_000))
  let released = ArraySink()
  let verifications = try? read.verify(with: verifier, writingTo: released)
  guard released.bytes.isEmpty else { fatalError("text was released that nobody has signed") }
  guard verifications.map({ $0.count == read.signatures.count }) ?? true else {
    fatalError("there is not one verification a signature")
  }
  return 0
}

private func text(_ message: CleartextMessage?) -> [UInt8]? {
  guard let message else { return nil }
  let sink = ArraySink()
  try? message.writeUnverifiedText(to: sink)
  return sink.bytes
}
