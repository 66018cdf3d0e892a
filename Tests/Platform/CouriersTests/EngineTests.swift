// SPDX-License-Identifier: Apache-2.0
//
// Services that people run, on this machine: `scripts/engines start ceph|swift|postgresql`, then
// `scripts/test --engines`.

import CourierProtocol
import Foundation
import RemoteConformance
import Remotes
import Secrets
import Testing

@testable import Couriers

/// A service that runs outside of the tests.
struct Engine: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let url: [UInt8]

  /// Those that `scripts/test --engines` found running; of any other run of the tests, none.
  static let running: [Engine] = {
    let variables = ProcessInfo.processInfo.environment
    let root = variables["COFFER_ENGINES"] ?? "\(variables["TMPDIR"] ?? "/tmp")/coffer-engines.\(geteuid())"
    let names = variables["COFFER_TESTED_ENGINES", default: ""].split(separator: "\n").map(String.init)
    return names.map { name in
      // Without its URL nothing answers, and the tests fail.
      let url = (try? Data(contentsOf: URL(filePath: "\(root)/\(name)/url"))) ?? Data()
      return Engine(testDescription: name, url: url.filter { $0 != UInt8(ascii: "\n") })
    }
  }()

  func place() throws -> CourierPlace {
    switch try RemotePlace(url: url.span.bytes) {
    case .s3(let place): .s3(place)
    case .postgreSQL(let place): .postgreSQL(place)
    case .folder: throw RemotePlaceError.scheme
    }
  }

  func remote() throws -> CourierRemote { try courierRemote(place()) }
}

@Suite(
  "Real services as remotes", .serialized,
  .enabled(if: !Engine.running.isEmpty, "only with scripts/test --engines"))
struct EngineTests {
  @Test("They do what every remote does", arguments: Engine.running, RemoteConformance.allCases)
  func conformance(engine: Engine, check: RemoteConformance) throws { try check.run(on: try engine.remote()) }

  @Test("Their lists come in pages, in order, with the server's dates", arguments: Engine.running)
  func pages(engine: Engine) throws {
    let remote = try engine.remote()
    let folder = "pages-\(UInt32.random(in: 0...UInt32.max))"
    let names = (0..<1_100).map { "\(folder)/\(10_000 + $0)" }
    inThreads(names) { try remote.put($0, [1]) }
    defer { inThreads(names) { try remote.delete($0) } }
    let list = try remote.list(folder)
    #expect(list.objects.map(\.name) == names)
    let now = UInt64(Date().timeIntervalSince1970)
    #expect(list.time.map { now - 3_600...now + 5 ~= $0 } == true)
    #expect(list.objects.allSatisfy { $0.date.map { now - 3_600...now + 5 ~= $0 } == true })
  }

  @Test(
    "They refuse a wrong secret, and tell a bucket or database that is not there", arguments: Engine.running)
  func refused(engine: Engine) throws {
    let wrong = SharedSecretBytes(SecretBytes(copying: Array("wrong".utf8).span.bytes))
    let (refused, missing): (CourierRemote, CourierRemote)
    let absence: RemoteError
    switch try engine.place() {
    case .s3(let place):
      func other(bucket: String, secretKey: SharedSecretBytes) throws -> CourierRemote {
        try courierRemote(
          S3Place(
            isEncrypted: false, host: place.host, port: place.port, bucket: bucket,
            accessKey: place.accessKey, secretKey: secretKey))
      }
      refused = try other(bucket: place.bucket, secretKey: wrong)
      missing = try other(bucket: "no-such-bucket", secretKey: place.secretKey)
      absence = .refused(.bucket)
    case .postgreSQL(let place):
      func other(database: String, password: SharedSecretBytes) throws -> CourierRemote {
        try courierRemote(
          PostgreSQLPlace(
            isEncrypted: false, host: place.host, port: place.port, database: database,
            account: place.account, user: place.user, password: password))
      }
      refused = try other(database: place.database, password: wrong)
      missing = try other(database: "no-such-database", password: place.password)
      absence = .refused(.unprepared)
    }
    #expect(throws: RemoteError.refused(.permission)) { try refused.put("account/a", [1]) }
    #expect(throws: RemoteError.refused(.permission)) { try refused.list("") }
    #expect(throws: absence) { try missing.put("account/a", [1]) }
    #expect(throws: absence) { try missing.list("") }
  }

  /// Four at once.
  private func inThreads(_ names: [String], _ body: @escaping @Sendable (String) throws -> Void) {
    let group = DispatchGroup()
    for part in 0..<4 {
      DispatchQueue(label: "part \(part)").async(group: group) {
        for index in stride(from: part, to: names.count, by: 4) {
          #expect(throws: Never.self) { try body(names[index]) }
        }
      }
    }
    group.wait()
  }
}
