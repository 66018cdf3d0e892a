// SPDX-License-Identifier: Apache-2.0
//
// What is asked of a server and what its answers become, without a network: a transport that answers as told.

import CourierProtocol
import Remotes
import Secrets
import Synchronization
import Testing

@testable import S3Remotes

/// Answers from a list, the last for ever, and keeps what was asked.
private final class ScriptedTransport: HTTPTransport {
  private let answers: Mutex<[Result<HTTPAnswer, HTTPTransportError>]>
  private let asked = Mutex<[HTTPRequest]>([])

  init(_ answers: [Result<HTTPAnswer, HTTPTransportError>]) { self.answers = Mutex(answers) }

  var requests: [HTTPRequest] { asked.withLock { $0 } }

  func answer(_ request: HTTPRequest) throws(HTTPTransportError) -> HTTPAnswer {
    asked.withLock { $0.append(request) }
    return try answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }.get()
  }
}

/// The pauses that were asked for, in place of waiting.
private final class Pauses: Sendable {
  private let seconds = Mutex<[Double]>([])
  var all: [Double] { seconds.withLock { $0 } }
  func add(_ pause: Double) { seconds.withLock { $0.append(pause) } }
}

private func answer(
  _ status: Int, _ body: String = "", _ headers: [String: String] = [:]
) -> Result<HTTPAnswer, HTTPTransportError> {
  .success(HTTPAnswer(status: status, headers: headers, body: Array(body.utf8)))
}

private func error(_ status: Int, _ code: String) -> Result<HTTPAnswer, HTTPTransportError> {
  answer(status, "<Error><Code>\(code)</Code></Error>")
}

@Suite("A bucket as a remote")
struct S3RemoteTests {
  private let pauses = Pauses()

  private func remote(_ transport: ScriptedTransport, prefix: String = "pre fix") throws -> S3Remote {
    let place = try S3Place(
      host: "store.example.org", bucket: "bucket", prefix: prefix, accessKey: "AK",
      secretKey: SharedSecretBytes(SecretBytes(copying: Array("SK".utf8).span.bytes)))
    return S3Remote(
      place, transport: transport,
      retries: CourierRetries(firstSeconds: 1) { [pauses] seconds in
        pauses.add(seconds)
        return true
      }, now: { 0 })
  }

  @Test("An object is addressed by path, with its prefix, and the hash of its body is signed")
  func addresses() throws {
    let transport = ScriptedTransport([answer(200)])
    try remote(transport).put("a/b", Array("hi".utf8))
    let request = try #require(transport.requests.first)
    #expect(request.method == .put && request.target == "/bucket/pre%20fix/a/b")
    #expect(request.body == Array("hi".utf8))
    #expect(request.headers.contains { $0 == ("host", "store.example.org") })
    #expect(
      request.headers.contains {
        $0 == ("x-amz-content-sha256", "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4")
      })
    #expect(request.headers.last?.name == "authorization")
  }

  @Test("A list asks for a folder in the bucket, and passes over keys that are not ours")
  func lists() throws {
    func page(_ keys: [String], _ rest: String = "<IsTruncated>false</IsTruncated>") -> String {
      let contents = keys.map {
        "<Contents><Key>\($0)</Key><Size>1</Size><LastModified>2000-01-01T00:00:00Z</LastModified></Contents>"
      }
      return "<ListBucketResult>\(rest)\(contents.joined())</ListBucketResult>"
    }
    let more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t/1</NextContinuationToken>"
    let date = ["date": "Sat, 01 Jan 2000 00:00:01 GMT"]
    let transport = ScriptedTransport([
      answer(
        200, page(["pre fix/f/", "pre fix/f/.x", "pre fix/f/a", "pre fix/f/b/c"], more), date),
      answer(200, page(["other", "pre fix/f/c"]), date),
    ])
    let list = try remote(transport).list("f")
    #expect(list.objects.map(\.name) == ["f/a", "f/b/c", "f/c"])
    #expect(list.time == 946_684_801 && list.objects.allSatisfy { $0.date == 946_684_800 })
    #expect(
      transport.requests.map(\.target) == [
        "/bucket?list-type=2&max-keys=1000&prefix=pre%20fix%2Ff%2F",
        "/bucket?continuation-token=t%2F1&list-type=2&max-keys=1000&prefix=pre%20fix%2Ff%2F",
      ])
    let whole = ScriptedTransport([answer(200, page([]))])
    #expect(try remote(whole, prefix: "").list("").objects == [])
    #expect(whole.requests.map(\.target) == ["/bucket?list-type=2&max-keys=1000"])
    // Without the server's time there are no dates.
    let undated = ScriptedTransport([answer(200, page(["pre fix/a"]))])
    let objects = try remote(undated).list("").objects
    #expect(objects.map(\.name) == ["a"] && objects.allSatisfy { $0.date == nil })
    // A server that repeats itself, or never ends.
    for keys in [["pre fix/b", "pre fix/a"], ["pre fix/a", "pre fix/a"], ["pre fix/a"], []] {
      let hostile = ScriptedTransport([answer(200, page(keys, more), date)])
      #expect(throws: RemoteError.invalidAnswer) { try remote(hostile).list("") }
    }
  }

  @Test("A range is asked for in bytes, and taken only from where it begins")
  func ranges() throws {
    let range = ["content-range": "bytes 5-7/100"]
    let transport = ScriptedTransport([answer(206, "abc", range)])
    #expect(try remote(transport).get("a", range: 5..<8) == Array("abc".utf8))
    #expect(transport.requests[0].headers.contains { $0 == ("range", "bytes=5-7") })
    #expect(transport.requests[0].skippedByteCount == 5 && transport.requests[0].answerByteCountLimit == 3)
    #expect(try remote(ScriptedTransport([answer(416)])).get("a", range: 5..<8) == [])
    for headers in [[:], ["content-range": "bytes 50-52/100"], ["content-range": "bytes */100"]] {
      let wrong = ScriptedTransport([answer(206, "abc", headers)])
      #expect(throws: RemoteError.invalidAnswer) { try remote(wrong).get("a", range: 5..<8) }
    }
    let long = ScriptedTransport([answer(206, "", ["content-range": "bytes 1-1/2"])])
    #expect(try remote(long).get("a", range: 1..<Int.max) == [])
    #expect(long.requests[0].headers.contains { $0 == ("range", "bytes=1-\(64 << 20)") })
  }

  @Test("Names that are not ours are never sent")
  func names() throws {
    let transport = ScriptedTransport([answer(200)])
    let remote = try self.remote(transport)
    for name in ["", "A", "../a", "a//b"] {
      #expect(throws: RemoteError.refused(.name)) { try remote.put(name, []) }
      #expect(try remote.get(name) == nil && remote.stat(name) == nil)
      try remote.delete(name)
    }
    #expect(try remote.list("A").objects == [])
    #expect(transport.requests == [])
  }

  @Test("What may pass is asked for again, after 1, 2, 4, 8 and 16 s with a random factor")
  func retries() throws {
    let passing: [Result<HTTPAnswer, HTTPTransportError>] = [
      error(500, "InternalError"), error(503, "SlowDown"), error(400, "BadDigest"), answer(504),
      .failure(.interrupted),
    ]
    let transport = ScriptedTransport(passing + [answer(200)])
    try remote(transport).put("a", [1])
    #expect(transport.requests.count == 6 && Set(transport.requests.map(\.body)) == [[1]])
    #expect(pauses.all.count == 5)
    for (pause, seconds) in zip(pauses.all, [1.0, 2, 4, 8, 16]) {
      #expect((0.5 * seconds...1.5 * seconds).contains(pause))
    }
    // After the last one, it is an error.
    let failing = ScriptedTransport([error(503, "SlowDown")])
    #expect(throws: RemoteError.serviceUnreachable) { try remote(failing).stat("a") }
    #expect(failing.requests.count == 6)
  }

  @Test("A server that has never answered is not waited for; one that has is")
  func acquaintance() throws {
    let strange = ScriptedTransport([.failure(.unreachable)])
    #expect(throws: RemoteError.serviceUnreachable) { try remote(strange).stat("a") }
    #expect(strange.requests.count == 1)
    let known = ScriptedTransport([
      answer(404), error(404, "NoSuchKey"), .failure(.unreachable), .failure(.noHandshake),
      answer(200, "", ["content-length": "3"]),
    ])
    let patient = try remote(known)
    #expect(try patient.stat("a") == nil)
    #expect(try patient.stat("a") == 3)
  }

  @Test("Nothing is there when the service says so, not when something before it says 404")
  func absence() throws {
    let missing = error(404, "NoSuchKey")
    #expect(try remote(ScriptedTransport([missing])).get("a") == nil)
    try remote(ScriptedTransport([missing])).delete("a")
    let proxy = answer(404, "<html>not found</html>")
    for attempt in [proxy, answer(404)] {
      // Whoever has never been such a service is not asked again.
      for ask: (S3Remote) throws -> Void in [
        { _ = try $0.get("a") }, { _ = try $0.stat("a") }, { try $0.delete("a") },
      ] {
        let transport = ScriptedTransport([attempt])
        let strange = try remote(transport)
        #expect(throws: RemoteError.invalidAnswer) { try ask(strange) }
        #expect(transport.requests.count <= 2)
      }
      let known = try remote(ScriptedTransport([missing, attempt]))
      #expect(try known.get("a") == nil)
      #expect(throws: RemoteError.invalidAnswer) { try known.get("a") }
    }
    // It passes.
    let known = try remote(ScriptedTransport([missing, proxy, answer(200, "x")]))
    #expect(try known.get("a") == nil)
    #expect(try known.get("a") == Array("x".utf8))
    // It came between the two requests, or the service does not agree with itself.
    let between = ScriptedTransport([answer(404), answer(206, "x", ["content-range": "bytes 0-0/1"])])
    #expect(throws: RemoteError.serviceUnreachable) { try remote(between).stat("a") }
  }

  @Test("An answer to a put that is not one is no acknowledgement", arguments: [202, 206, 416])
  func putAnswers(status: Int) throws {
    let remote = try remote(ScriptedTransport([answer(status)]))
    #expect(throws: RemoteError.invalidAnswer) { try remote.put("a", [1]) }
  }

  @Test(
    "Answers that do not pass are sorted by what the user can do",
    arguments: [
      (403, "AccessDenied", RemoteError.refused(.permission)),
      (403, "InvalidAccessKeyId", .refused(.permission)),
      (403, "SignatureDoesNotMatch", .refused(.permission)), (401, "", .refused(.permission)),
      (403, "RequestTimeTooSkewed", .refused(.clock)), (403, "QuotaExceeded", .full),
      (413, "EntityTooLarge", .full), (507, "", .full), (404, "NoSuchBucket", .refused(.bucket)),
      (301, "PermanentRedirect", .refused(.address)), (307, "TemporaryRedirect", .refused(.address)),
      (400, "AuthorizationHeaderMalformed", .refused(.address)), (400, "InvalidRequest", .invalidAnswer),
      (501, "NotImplemented", .invalidAnswer), (302, "", .invalidAnswer), (200, "", .invalidAnswer),
    ])
  func failures(status: Int, code: String, expected: RemoteError) throws {
    let transport = ScriptedTransport([error(status, code)])
    #expect(throws: expected) { try remote(transport).list("a") }
    #expect(transport.requests.count == 1 && pauses.all == [])
  }

  @Test("Errors of the connection are kept apart")
  func connections() throws {
    for (transportError, expected) in [
      (HTTPTransportError.untrusted, RemoteError.untrusted), (.invalid, .invalidAnswer),
      (.noHandshake, .invalidAnswer), (.unreachable, .serviceUnreachable),
    ] {
      let transport = ScriptedTransport([.failure(transportError)])
      #expect(throws: expected) { try remote(transport).get("a") }
      #expect(transport.requests.count == 1)
    }
  }

  @Test("A length that is missing or not a number is not a length", arguments: ["", "x", "-1", "1 2"])
  func lengths(text: String) throws {
    let transport = ScriptedTransport([answer(200, "", text.isEmpty ? [:] : ["content-length": text])])
    #expect(throws: RemoteError.invalidAnswer) { try remote(transport).stat("a") }
  }
}

@Suite("The time of a server")
struct HTTPDateTests {
  @Test("It is read in the form of RFC 9110")
  func fixed() {
    #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
    #expect(HTTPDate.parse("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
  }

  @Test(
    "Another form, or a time that is not one, is none",
    arguments: [
      "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 6 Nov 1994 08:49:370 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:49:37 GMT", "Wed, 31 Dec 1969 23:59:59 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
      "Sun, +6 Nov 1994 08:49:37 GMT",
    ])
  func other(text: String) { #expect(HTTPDate.parse(text) == nil) }
}
