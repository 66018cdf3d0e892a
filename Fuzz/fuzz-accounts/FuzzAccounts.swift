// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a remote, another device, the courier's other end, a card or this device's own disk brings: what is
// read is written the same again. The first octet says what the rest is.

/// What an input is. seed-corpus knows the numbers.
private enum Kind: UInt8, CaseIterable {
  case slot = 0
  case controlOperation = 1
  case segment = 2
  case frame = 3
  case answer = 4
  case place = 5
  case address = 6
  case envelopes = 7
  case envelopeKeys = 8
  case packDirectory = 9
  case objectName = 10
  case localState = 11
  case content = 12
  case firstPart = 13
  case manifest = 14
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  guard let first = bytes.first, let kind = Kind(rawValue: first % UInt8(Kind.allCases.count)) else {
    return 0
  }
  let rest = Array(bytes.dropFirst())
  switch kind {
  case .slot: checkSlot(rest)
  case .controlOperation: checkControlOperation(rest)
  case .segment: checkSegment(rest)
  case .frame: checkFrame(rest)
  case .answer: checkAnswer(rest)
  case .place: checkPlace(rest)
  case .address: checkAddress(rest)
  case .envelopes: checkEnvelopes(rest)
  case .envelopeKeys: checkEnvelopeKeys(rest)
  case .packDirectory: checkPackDirectory(rest)
  case .objectName: checkObjectName(rest)
  case .localState: checkLocalState(rest)
  case .content: checkContent(rest)
  case .firstPart: checkFirstPart(rest)
  case .manifest: checkManifest(rest)
  }
  return 0
}
