// SPDX-License-Identifier: Apache-2.0
//
// A bucket as a remote: one request of HTTP for each of ours, addressed by path, signed, with its body.

package import CourierProtocol
internal import Primitives
package import Remotes
internal import Secrets

/// A bucket of a service that speaks S3.
package struct S3Remote: PagedRemote {
  private let place: S3Place
  private let signer: S3Signer
  private let transport: any HTTPTransport
  private let retries: CourierRetries
  private let now: @Sendable () -> Int64
  private let acquaintance = CourierAcquaintance()

  /// - Parameter now: seconds since 1970; servers refuse a signature that is 15 minutes old.
  package init(
    _ place: S3Place, transport: any HTTPTransport, retries: CourierRetries,
    now: @escaping @Sendable () -> Int64
  ) {
    self.place = place
    self.transport = transport
    self.retries = retries
    self.now = now
    signer = S3Signer(region: place.region, accessKey: place.accessKey, secretKey: place.secretKey)
  }

  /// A page of a list. Keys in the bucket that are not names of ours are passed over.
  package func page(_ folder: String, continuation: String) throws(RemoteError) -> CourierPage {
    let none = CourierPage(objects: [], time: nil, continuation: "")
    guard let parts = RemoteName.parts(ofFolder: folder) else { return none }
    let root = place.prefix.isEmpty ? "" : place.prefix + "/"
    let prefix = root + parts.map { $0 + "/" }.joined()
    var query = [("list-type", "2"), ("max-keys", "\(CourierPage.objectCountLimit)")]
    if !prefix.isEmpty { query.append(("prefix", prefix)) }
    if !continuation.isEmpty { query.append(("continuation-token", continuation)) }
    let request = S3Request(.get, query: query, answerByteCountLimit: S3ListPage.byteCountLimit)
    // There is no object here that could be absent; it is the bucket.
    guard let answer = try answer(request) else { throw .serviceUnreachable }
    guard answer.status == 200, let page = try? S3ListPage(answer.body) else { throw .invalidAnswer }
    let time = answer.headers["date"].flatMap(HTTPDate.parse)
    var objects: [RemoteObject] = []
    for entry in page.entries where entry.key.hasPrefix(prefix) {
      let name = String(entry.key.dropFirst(root.count))
      guard RemoteName(name) != nil else { continue }
      guard objects.last.map({ $0.name < name }) ?? true else { throw .invalidAnswer }
      objects.append(
        RemoteObject(name: name, byteCount: entry.byteCount, date: time == nil ? nil : entry.date))
    }
    return CourierPage(objects: objects, time: time, continuation: page.continuation ?? "")
  }

  /// Reads an object, or a part of it.
  package func get(_ name: String, range: Range<Int>?) throws(RemoteError) -> [UInt8]? {
    guard RemoteName(name) != nil else { return nil }
    let limit = RemoteObject.byteCountLimit
    guard let range else {
      let request = S3Request(.get, name, answerByteCountLimit: limit)
      guard let answer = try answer(request) else { return nil }
      guard answer.status == 200 else { throw .invalidAnswer }
      return answer.body
    }
    // HTTP has no empty ranges.
    if range.isEmpty { return try stat(name) == nil ? nil : [] }
    let count = min(range.count, limit)
    var request = S3Request(.get, name, answerByteCountLimit: count)
    request.headers = [("range", "bytes=\(range.lowerBound)-\(range.lowerBound + (count - 1))")]
    request.skippedByteCount = range.lowerBound
    guard let answer = try answer(request) else { return nil }
    switch answer.status {
    // Nothing of the object is in the range.
    case 416: return []
    // The server does not know ranges, and the transport has taken the part.
    case 200: return answer.body
    case 206:
      let content = answer.headers["content-range"] ?? ""
      guard content.hasPrefix("bytes \(range.lowerBound)-") else { throw .invalidAnswer }
      return answer.body
    default: throw .invalidAnswer
    }
  }

  /// Writes an object; the server compares its bytes with the hash that is signed.
  package func put(_ name: String, _ bytes: [UInt8]) throws(RemoteError) {
    guard RemoteName(name) != nil else { throw .refused(.name) }
    guard bytes.count <= RemoteObject.byteCountLimit else { throw .refused(.tooLarge) }
    guard let answer = try answer(S3Request(.put, name, body: bytes)) else { throw .serviceUnreachable }
    guard [200, 201, 204].contains(answer.status) else { throw .invalidAnswer }
  }

  /// How many bytes an object has.
  package func stat(_ name: String) throws(RemoteError) -> Int? {
    guard RemoteName(name) != nil else { return nil }
    guard let answer = try answer(S3Request(.head, name)) else {
      // The answer to HEAD does not say what is not there; that to GET does.
      guard try get(name, range: 0..<1) == nil else { throw .serviceUnreachable }
      return nil
    }
    guard let count = answer.headers["content-length"].flatMap({ Int($0) }), count >= 0 else {
      throw .invalidAnswer
    }
    return count
  }

  /// Deletes an object.
  package func delete(_ name: String) throws(RemoteError) {
    guard RemoteName(name) != nil else { return }
    _ = try answer(S3Request(.delete, name))
  }

  /// Makes a request, again if that may help; nil when the object is not there.
  private func answer(_ request: S3Request) throws(RemoteError) -> HTTPAnswer? {
    try retries.answer { () -> CourierAttempt<HTTPAnswer?> in
      do throws(HTTPTransportError) {
        let answer = try transport.answer(signed(request))
        if (200...299).contains(answer.status) || (answer.status == 416 && request.hasRange) {
          acquaintance.make()
          return .answered(answer)
        }
        let code = S3ErrorCode.read(answer.body)
        if code != nil { acquaintance.make() }
        return S3Failure.attempt(
          status: answer.status, code: code, isHead: request.method == .head, isKnown: acquaintance.isMade)
      } catch {
        return S3Failure.attempt(error, isKnown: acquaintance.isMade)
      }
    }
  }

  private func signed(_ request: S3Request) -> HTTPRequest {
    let parts = request.name.isEmpty ? [place.bucket] : [place.bucket, place.prefix, request.name]
    let path = parts.filter { !$0.isEmpty }.map { "/" + $0 }.joined()
    var signed = S3SignedRequest(
      method: request.method.rawValue, path: PercentEncoding.text(path.utf8, keeping: "/"),
      query: request.query, headers: [("host", place.authority)] + request.headers,
      bodyHash: request.bodyHash)
    signer.sign(&signed, time: now())
    let query = signed.canonicalQuery
    return HTTPRequest(
      method: request.method, target: signed.path + (query.isEmpty ? "" : "?" + query),
      headers: signed.headers, body: request.body, answerByteCountLimit: request.answerByteCountLimit,
      skippedByteCount: request.skippedByteCount)
  }
}

/// A request before it is signed, which each repetition is again.
private struct S3Request {
  let method: HTTPRequest.Method
  /// Of the object; empty for the bucket.
  let name: String
  let query: [(name: String, value: String)]
  var headers: [(name: String, value: String)] = []
  let body: [UInt8]
  /// In hexadecimal digits; the same for each repetition.
  let bodyHash: String
  let answerByteCountLimit: Int
  var skippedByteCount = 0

  var hasRange: Bool { headers.contains { $0.name == "range" } }

  init(
    _ method: HTTPRequest.Method, _ name: String = "", query: [(String, String)] = [], body: [UInt8] = [],
    answerByteCountLimit: Int = HTTPAnswer.errorByteCountLimit
  ) {
    self.method = method
    self.name = name
    self.query = query.map { (name: $0, value: $1) }
    self.body = body
    bodyHash = Hexadecimal.text(SHA256.hash(body.rawSpan))
    self.answerByteCountLimit = answerByteCountLimit
  }
}
