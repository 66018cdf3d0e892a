// SPDX-License-Identifier: Apache-2.0
//
// What reaches a device over the network and from paper: frames of the courier, answers of a service that speaks S3, URLs
// of places, and cards.

import CourierProtocol
import Remotes
import S3Remotes
import Secrets
import Syncing

/// A request, an answer and an opening, each as a frame with its head.
func checkFrame(_ bytes: [UInt8]) {
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
  if head.kind == CourierOpening.kind, head.number == 0,
    let opening = try? CourierOpening(body: body.span.bytes)
  {
    guard opening.frame().withBytes({ [UInt8](copying: $0) }) == bytes else {
      fatalError("an opening is written differently")
    }
  }
}

/// Lines of headers up to an octet of zero, then the document, as the answer to each kind of request. The first header
/// may be `status`.
func checkAnswer(_ bytes: [UInt8]) {
  struct Server: HTTPTransport {
    let answer: HTTPAnswer
    func answer(_ request: HTTPRequest) -> HTTPAnswer { answer }
  }
  let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2 else { return }
  var headers: [String: String] = [:]
  for line in String(decoding: parts[0], as: UTF8.self).split(separator: "\n") {
    let field = line.split(separator: ":", maxSplits: 1)
    if field.count == 2 { headers[String(field[0])] = String(field[1]) }
  }
  let status = headers["status"].flatMap { Int($0) } ?? 200
  let url = Array("s3://key:secret@localhost/bucket/a%C3%A9/b?tls=off".utf8)
  guard case .s3(let place)? = try? RemotePlace(url: url.span.bytes) else { fatalError("the URL is right") }
  let remote = S3Remote(
    place, transport: Server(answer: HTTPAnswer(status: status, headers: headers, body: Array(parts[1]))),
    retries: CourierRetries(firstSeconds: 0) { _ in false }
  ) {
    0
  }
  if let count = try? remote.stat("chain/1"), count < 0 { fatalError("an object has a negative length") }
  _ = try? remote.get("chain/1", range: 2..<4)
  guard let page = try? remote.page("chain", continuation: "") else { return }
  for object in page.objects {
    guard RemoteName(object.name) != nil, object.name.hasPrefix("chain/"), object.byteCount >= 0 else {
      fatalError("an object has no name of its folder")
    }
  }
  let answer = CourierAnswer.page(page)
  let body = answer.frame(number: 1).dropFirst(CourierHead.byteCount)
  guard let again = try? CourierAnswer(kind: 131, body: Array(body)), again == answer else {
    fatalError("a page is not one that the courier can hand on")
  }
}

func checkPlace(_ bytes: [UInt8]) {
  guard let place = try? RemotePlace(url: bytes.span.bytes) else { return }
  let url = place.url()
  guard let again = url.withBytes({ try? RemotePlace(url: $0) }), "\(again)" == "\(place)",
    again.url().isEqual(to: url)
  else { fatalError("a place is read as another") }
  let opening: CourierOpening
  switch place {
  case .folder: return
  case .s3(let place): opening = CourierOpening(.s3(place), CourierLimits())
  case .postgreSQL(let place): opening = CourierOpening(.postgreSQL(place), CourierLimits())
  }
  let frame = opening.frame().withBytes { [UInt8](copying: $0) }
  let body = Array(frame[CourierHead.byteCount...])
  guard body.count <= CourierOpening.bodyByteCountLimit, (try? CourierOpening(body: body.span.bytes)) != nil
  else {
    fatalError("a place is not one that the courier opens")
  }
}

func checkAddress(_ bytes: [UInt8]) {
  guard let address = try? AccountAddress(bytes.span.bytes) else { return }
  let again = address.text().withBytes { try? AccountAddress($0) }
  guard let again, again.account == address.account, "\(again.place)" == "\(address.place)" else {
    fatalError("an address is read as another")
  }
}
