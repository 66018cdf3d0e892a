// SPDX-License-Identifier: Apache-2.0

/// How a server misbehaves. What has a number is over after so many requests.
public struct S3Faults: Sendable {
  /// These answers come in place of the right ones, one for each request. Nothing is carried out.
  public var answers: [S3Answer] = []
  /// The next answers end after so many bytes, head and body, and the connection with them. The requests are carried out.
  public var cutAnswers: [Int] = []
  /// So many requests are not read to their end, and the connection ends.
  public var cutRequestCount = 0
  /// Called with method and target when a head was read; nothing happens to the request before it returns.
  public var onRequest: (@Sendable (String) -> Void)?
  /// What is put is left out of so many lists.
  public var listsBefore = 0
  /// Whether answers have the server's time.
  public var hasDate = true
  /// Whether parts of objects are answered with parts.
  public var knowsRanges = true
  /// Objects in a page of a list, at most.
  public var pageCount = 1_000

  init() {}

  /// What happens to one request.
  struct Fault {
    var answer: S3Answer?
    var answerByteCount: Int?
    var cutsRequest = false
    var onRequest: (@Sendable (String) -> Void)?
    var hasDate = true
  }

  mutating func next() -> Fault {
    var fault = Fault(onRequest: onRequest, hasDate: hasDate)
    if cutRequestCount > 0 {
      cutRequestCount -= 1
      fault.cutsRequest = true
    }
    if !answers.isEmpty { fault.answer = answers.removeFirst() }
    if !cutAnswers.isEmpty { fault.answerByteCount = cutAnswers.removeFirst() }
    return fault
  }
}

/// One answer of the server.
public struct S3Answer: Sendable {
  var status: Int
  var headers: [(String, String)] = []
  var body: [UInt8] = []
  /// Of HEAD: the length of the object, whose bytes are not sent.
  var length: Int?

  /// An answer with a body.
  public init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An error of S3.
  public init(status: Int, code: String) {
    self.init(
      status: status,
      body: Array("<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>x</Message></Error>".utf8))
  }

  func bytes(isHead: Bool, date: Int?) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status) X"]
    if let date { lines.append("Date: \(HTTPTime.text(date))") }
    lines += headers.map { "\($0): \($1)" }
    if status != 204 { lines.append("Content-Length: \(length ?? body.count)") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (isHead ? [] : body)
  }
}
