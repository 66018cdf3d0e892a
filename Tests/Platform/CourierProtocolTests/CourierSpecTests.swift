// SPDX-License-Identifier: Apache-2.0
//
// The worked example of Specs/courier.md: both sides write its bytes and read them.

import CourierProtocol
import Remotes
import Secrets
import SpecExamples
import Testing

@Suite("Frames of the courier, as specified")
struct CourierSpecTests {
  private let example: SpecExample
  private let place: S3Place

  init() throws {
    example = try SpecExample(page: "courier.md")
    place = try Self.place()
  }

  static func place() throws -> S3Place {
    try S3Place(
      isEncrypted: false, host: "127.0.0.1", port: 9_000, bucket: "coffer", prefix: "a", accessKey: "AK",
      secretKey: SharedSecretBytes(SecretBytes(copying: Array("SK".utf8).span.bytes)))
  }

  @Test("The frame that opens has the bytes of the example, and is read from them")
  func opening() throws {
    let bytes = try example.bytes("open")
    #expect(CourierOpening(.s3(place), CourierLimits()).frame().withBytes { Array(copying: $0) } == bytes)
    let read = try CourierOpening(body: bytes.span.bytes.extracting(9..<bytes.count))
    guard case .s3(let readPlace) = read.place else { throw CourierProtocolError() }
    #expect(RemotePlace.s3(readPlace).description == RemotePlace.s3(place).description)
    #expect(readPlace.accessKey == "AK")
    #expect(readPlace.secretKey.withBytes { Array(copying: $0) } == Array("SK".utf8))
    #expect(read.limits == CourierLimits())
  }

  @Test("So has the one that opens a database")
  func databaseOpening() throws {
    let place = try PostgreSQLPlace(
      isEncrypted: false, host: "127.0.0.1", port: 5_432, database: "d", account: "ada", user: "u",
      password: SharedSecretBytes(SecretBytes(copying: Array("pw".utf8).span.bytes)))
    let bytes = try example.bytes("open database")
    let frame = CourierOpening(.postgreSQL(place), CourierLimits()).frame()
    #expect(frame.withBytes { Array(copying: $0) } == bytes)
    let read = try CourierOpening(body: bytes.span.bytes.extracting(9..<bytes.count))
    guard case .postgreSQL(let readPlace) = read.place else { throw CourierProtocolError() }
    #expect(RemotePlace.postgreSQL(readPlace).description == RemotePlace.postgreSQL(place).description)
    #expect(readPlace.user == "u" && readPlace.account == "ada")
    #expect(readPlace.password.withBytes { Array(copying: $0) } == Array("pw".utf8))
  }

  @Test("Requests have the bytes of the example, and are read from them")
  func requests() throws {
    let requests: [(String, UInt32, CourierRequest)] = [
      ("put", 1, .put(name: "f/a", bytes: Array("hi".utf8))),
      ("list", 2, .list(folder: "f", continuation: "")),
      ("get", 3, .get(name: "f/a", range: 0..<10)),
    ]
    for (name, number, request) in requests {
      let bytes = try example.bytes(name)
      #expect(request.frame(number: number) == bytes)
      let head = try CourierHead(Array(bytes.prefix(9)))
      #expect(head.number == number && head.bodyByteCount == bytes.count - 9)
      #expect(try CourierRequest(kind: head.kind, body: Array(bytes.dropFirst(9))) == request)
    }
  }

  @Test("Answers have the bytes of the example, and are read from them")
  func answers() throws {
    let object = RemoteObject(name: "f/a", byteCount: 2, date: 946_684_799)
    let answers: [(String, UInt32, CourierAnswer)] = [
      ("done", 1, .done), ("object", 3, .object(Array("hi".utf8))), ("absent", 4, .absent),
      ("page", 2, .page(CourierPage(objects: [object], time: 946_684_800, continuation: ""))),
      ("failed", 5, .failed(.full)),
    ]
    for (name, number, answer) in answers {
      let bytes = try example.bytes(name)
      #expect(answer.frame(number: number) == bytes)
      let head = try CourierHead(Array(bytes.prefix(9)))
      #expect(head.number == number && head.bodyByteCount == bytes.count - 9)
      #expect(try CourierAnswer(kind: head.kind, body: Array(bytes.dropFirst(9))) == answer)
    }
  }
}

extension [UInt8] {
  init(copying bytes: RawSpan) { self = bytes.withUnsafeBytes { Array($0) } }
}
