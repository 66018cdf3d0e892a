// SPDX-License-Identifier: Apache-2.0
//
// What a service over HTTP needs of the network. The courier has libcurl for it, tests have what they like.

/// One request.
package struct HTTPRequest: Equatable, Sendable {
  /// The method of a request that is used.
  package enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case head = "HEAD"
    case delete = "DELETE"
  }

  package let method: Method
  /// Path and query, encoded.
  package let target: String
  /// Names in lower case, with their values; the host is among them.
  package let headers: [(name: String, value: String)]
  /// Only a PUT has one.
  package let body: [UInt8]
  /// Of the body of an answer with a status of 2xx, so many bytes are kept; what follows is not read. Of others,
  /// ``HTTPAnswer/errorByteCountLimit``.
  package let answerByteCountLimit: Int
  /// Of the body of an answer with the status 200, so many bytes are passed over: a whole object in place of a part.
  package let skippedByteCount: Int

  package static func == (left: HTTPRequest, right: HTTPRequest) -> Bool {
    left.method == right.method && left.target == right.target && left.body == right.body
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }
}

/// One answer.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// The values of the headers that are used, by their names in lower case.
  package let headers: [String: String]
  package let body: [UInt8]

  /// The headers that are used. A transport keeps no others.
  package static let usedHeaders: Set<String> = [
    "date", "content-length", "content-range", "transfer-encoding",
  ]

  /// An error is short; a page for people is not read to its end.
  package static let errorByteCountLimit = 64 << 10

  package init(status: Int, headers: [String: String], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Why there is no answer.
package enum HTTPTransportError: Error, Equatable, Sendable {
  /// There is no connection to be had.
  case unreachable
  /// A connection broke off, or made no progress for too long.
  case interrupted
  /// The server's key is not the pinned one, or no authority vouches for it.
  case untrusted
  /// TLS did not begin: what answers does not speak it, or broke off.
  case noHandshake
  /// What answers does not speak HTTP, or says too much.
  case invalid
}

/// Carries requests to one server. Several threads may ask at once.
package protocol HTTPTransport: Sendable {
  /// Waits for the whole answer, as far as it is kept.
  func answer(_ request: HTTPRequest) throws(HTTPTransportError) -> HTTPAnswer
}
