// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a remote, another device, the courier's other end or a card brings: what is read is written the same
// again. The first octet says what the rest is.

import CourierProtocol
import Histories
import Remotes
import S3Remotes
import Secrets
import Syncing

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  guard let kind = bytes.first else { return 0 }
  let rest = Array(bytes.dropFirst())
  switch kind {
  case 0: checkSlot(rest)
  case 1: checkControlOperation(rest)
  case 2: checkSegment(rest)
  case 3: checkCourier(rest)
  case 4: checkList(rest)
  case 5: checkPlace(rest)
  default: checkAddress(rest)
  }
  return 0
}

private func checkSlot(_ bytes: [UInt8]) {
  guard let slot = try? AccountSlotRecord.parse(bytes) else { return }
  guard slot.bytes() == bytes else { fatalError("a slot is written differently") }
}

private func checkControlOperation(_ bytes: [UInt8]) {
  guard let signed = try? SignedControlOperation.parse(bytes) else { return }
  guard signed.operation.signedBytes() == signed.signedBytes else {
    fatalError("a control operation is written differently")
  }
}

private func checkSegment(_ bytes: [UInt8]) {
  guard let signed = try? SignedSegment.parse(bytes) else { return }
  guard signed.segment.body() == signed.signedBytes else {
    fatalError("a segment is written differently")
  }
}

/// A request, an answer and an opening, each as a frame with its head.
private func checkCourier(_ bytes: [UInt8]) {
  guard bytes.count >= CourierHead.byteCount,
    let head = try? CourierHead(Array(bytes[..<CourierHead.byteCount]))
  else { return }
  let body = Array(bytes[CourierHead.byteCount...])
  guard head.bodyByteCount == body.count else { return }
  if let request = try? CourierRequest(kind: head.kind, body: body),
    request.frame(number: head.number) != bytes
  {
    fatalError("a request is written differently")
  }
  if let answer = try? CourierAnswer(kind: head.kind, body: body), answer.frame(number: head.number) != bytes
  {
    fatalError("an answer is written differently")
  }
  if head.kind == CourierOpening.kind { _ = try? CourierOpening(body: body.span.bytes) }
}

/// What a server says that it has.
private func checkList(_ bytes: [UInt8]) {
  struct Server: HTTPTransport {
    let body: [UInt8]
    func answer(_ request: HTTPRequest) -> HTTPAnswer { HTTPAnswer(status: 200, headers: [:], body: body) }
  }
  let url = Array("s3://key:secret@localhost/bucket?tls=off".utf8)
  guard case .s3(let place)? = try? RemotePlace(url: url.span.bytes) else { fatalError("the URL is right") }
  let remote = S3Remote(
    place, transport: Server(body: bytes), retries: CourierRetries(firstSeconds: 0) { _ in false }
  ) {
    0
  }
  guard let page = try? remote.page("chain", continuation: "") else { return }
  for object in page.objects {
    guard RemoteName(object.name) != nil, object.byteCount >= 0 else { fatalError("an object has no name") }
  }
}

private func checkPlace(_ bytes: [UInt8]) {
  guard let place = try? RemotePlace(url: bytes.span.bytes) else { return }
  let again = place.url().withBytes { try? RemotePlace(url: $0) }
  guard let again, "\(again)" == "\(place)" else { fatalError("a place is read as another") }
}

private func checkAddress(_ bytes: [UInt8]) {
  guard let address = try? AccountAddress(bytes.span.bytes) else { return }
  let again = address.text().withBytes { try? AccountAddress($0) }
  guard let again, again.account == address.account, "\(again.place)" == "\(address.place)" else {
    fatalError("an address is read as another")
  }
}
