// SPDX-License-Identifier: Apache-2.0

import Remotes
import Secrets
import Testing

@Suite("URLs of remotes")
struct RemotePlaceTests {
  private static let pin = "sha256//" + String(repeating: "A", count: 43) + "="

  private func place(_ url: String) throws -> RemotePlace { try RemotePlace(url: Array(url.utf8).span.bytes) }

  private func url(_ place: RemotePlace) -> String {
    place.url().withBytes { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private func s3(_ url: String) throws -> S3Place {
    guard case .s3(let place) = try place(url) else { throw RemotePlaceError.scheme }
    return place
  }

  @Test("A folder's path is decoded")
  func folders() throws {
    for (url, path) in [
      ("folder:///", "/"), ("folder:///media/stick/coffer", "/media/stick/coffer"),
      ("folder:///a%20b/%C3%A4%3F%23", "/a b/\u{e4}?#"),
    ] {
      guard case .folder(path) = try place(url) else {
        Issue.record("\(url)")
        continue
      }
      #expect(self.url(try place(url)) == url)
      #expect("\(try place(url))" == url)
    }
  }

  @Test("Each part of a bucket's URL is read, and printed again")
  func buckets() throws {
    let pin = "sha256//" + String(repeating: "Ab+/", count: 10) + "xyz="
    let encodedPin = pin.replacing("+", with: "%2B")
    let text =
      "s3://K%40:s%2Fe%2Bc%3Ar@store.example.org:8443/my.bucket/some%20where/deep?region=eu-1&pin=\(encodedPin)"
    let place = try s3(text)
    #expect(place.isEncrypted && place.host == "store.example.org" && place.port == 8_443)
    #expect(place.bucket == "my.bucket" && place.prefix == "some where/deep" && place.region == "eu-1")
    #expect(place.accessKey == "K@" && place.pin == pin)
    #expect(place.secretKey.withBytes { $0.withUnsafeBytes { Array($0) } } == Array("s/e+c:r".utf8))
    #expect(url(.s3(place)) == text)
  }

  @Test("What is left out has its usual value")
  func defaults() throws {
    let place = try s3("s3://K:S@store.example.org/bucket")
    #expect(place.isEncrypted && place.port == 443 && place.prefix == "" && place.pin == nil)
    #expect(place.region == "us-east-1")
    #expect(try s3("s3://K:S@localhost/bucket?tls=off").port == 80)
    #expect(url(.s3(place)) == "s3://K:S@store.example.org/bucket?region=us-east-1")
  }

  @Test("What is shown has no credentials")
  func shown() throws {
    let text = "\(try place("s3://KEYKEY:SECRETSECRET@[::1]:9/bucket/p?tls=off"))"
    #expect(text == "s3://[::1]:9/bucket/p?region=us-east-1&tls=off")
  }

  @Test(
    "Two URLs lead to the same objects, or not",
    arguments: [
      ("postgresql://ada:a@db.example/coffer", "postgresql://ada_sweeper:b@db.example/coffer/ada", true),
      ("postgresql://ada:a@db.example/coffer", "postgresql://bob:b@db.example/coffer", false),
      ("postgresql://ada:a@db.example/coffer", "postgresql://ada:a@db.example/other", false),
      ("s3://a:b@s3.example/bucket/x", "s3://c:d@s3.example/bucket/x", true),
      ("s3://a:b@s3.example/bucket/x", "s3://a:b@s3.example/bucket/y", false),
      ("s3://a:b@s3.example/bucket", "s3://a:b@s4.example/bucket", false),
      ("folder:///a", "folder:///a", true), ("folder:///a", "folder:///b", false),
      ("folder:///a", "s3://a:b@s3.example/bucket", false),
    ])
  func sameObjects(one: String, other: String, areSame: Bool) throws {
    #expect(try place(one).hasObjects(of: place(other)) == areSame)
    #expect(try place(other).hasObjects(of: place(one)) == areSame)
  }

  @Test("Without encryption only this machine is reached")
  func unencrypted() throws {
    for host in ["127.0.0.1", "127.8.9.255", "localhost", "[::1]"] {
      #expect(try s3("s3://K:S@\(host):9/bucket?tls=off").isEncrypted == false)
    }
    for host in [
      "store.example.org", "127.0.0.1.example.org", "10.0.0.1", "127.0.0.256", "127.0.1", "0.0.0.0", "[::2]",
      "localhost.example.org", "127.0.0.01", "2130706433",
    ] {
      #expect(throws: RemotePlaceError.unencrypted) { try place("s3://K:S@\(host):9/bucket?tls=off") }
    }
  }

  @Test("A database is read as it is written, with names and a password that need escaping")
  func database() throws {
    let text = "postgresql://ada%20b:s%2Fe%40c%3Ar@db.example.org:6432/d%2Fb/ac%22c?pin=\(Self.pin)"
    guard case .postgreSQL(let read) = try place(text) else { throw RemotePlaceError.scheme }
    #expect(read.isEncrypted && read.host == "db.example.org" && read.port == 6_432 && read.pin == Self.pin)
    #expect(read.user == "ada b" && read.database == "d/b" && read.account == "ac\"c")
    #expect(read.password.withBytes { $0.withUnsafeBytes { Array($0) } } == Array("s/e@c:r".utf8))
    #expect(url(.postgreSQL(read)) == text)
    guard case .postgreSQL(let plain) = try place("postgresql://u:p@h/d") else {
      throw RemotePlaceError.scheme
    }
    #expect(plain.isEncrypted && plain.port == 5_432 && plain.account == "u" && plain.pin == nil)
    #expect(url(.postgreSQL(plain)) == "postgresql://u:p@h/d")
    #expect("\(RemotePlace.postgreSQL(plain))" == "postgresql://h/d")
    let own = "postgresql://u:p@[::1]/d/a?tls=off"
    #expect(try url(place(own)) == own)
    #expect("\(try place(own))" == "postgresql://[::1]/d/a?tls=off")
  }

  @Test(
    "Any other URL of a database is refused",
    arguments: [
      ("postgres://u:p@h/d", RemotePlaceError.scheme), ("postgresql:///d", .credentials),
      ("postgresql://u@h/d", .credentials), ("postgresql://u:@h/d", .credentials),
      ("postgresql://:p@h/d", .credentials), ("postgresql://u:p%00q@h/d", .credentials),
      ("postgresql://u:p@/var/run/d", .host), ("postgresql://u:p@a,b/d", .host),
      ("postgresql://u:p@h:0/d", .port), ("postgresql://u:p@h", .database),
      ("postgresql://u:p@h/", .database),
      ("postgresql://u:p@h/d/", .database), ("postgresql://u:p@h/d%00", .database),
      ("postgresql://u:p@h/d%0A", .database), ("postgresql://u:p@h/d%C3", .encoding),
      ("postgresql://u:p@h/\(String(repeating: "d", count: 64))", .database),
      ("postgresql://u:p@h/d/\(String(repeating: "d", count: 64))", .database),
      ("postgresql://u:p@h/d?sslmode=disable", .parameter), ("postgresql://u:p@h/d?region=a", .parameter),
      ("postgresql://u:p@h/d?tls=off", .unencrypted), ("postgresql://u:p@h/d?pin=abc", .pin),
    ])
  func refusedDatabases(url: String, error: RemotePlaceError) {
    #expect(throws: error) { try place(url) }
  }

  @Test("A policy for a bucket lists, reads and writes below a prefix, and deletes nothing")
  func policy() throws {
    let policy = try RemotePolicy.s3(bucket: "photos", prefix: "a/b")
    #expect(policy.contains("\"arn:aws:s3:::photos/a/b/*\"") && policy.contains("\"arn:aws:s3:::photos\""))
    #expect(policy.contains("s3:PutObject") && !policy.contains("Delete"))
    #expect(try RemotePolicy.s3(bucket: "photos", prefix: "").contains("\"arn:aws:s3:::photos/*\""))
    #expect(throws: RemotePlaceError.bucket) { try RemotePolicy.s3(bucket: "a/b", prefix: "") }
    for prefix in ["a\"b", "a*", "../a", "a//b"] {
      #expect(throws: RemotePlaceError.prefix) { try RemotePolicy.s3(bucket: "photos", prefix: prefix) }
    }
  }

  @Test(
    "Anything else is refused, with what is wrong",
    arguments: [
      ("", RemotePlaceError.scheme), ("/media/stick", .scheme), ("S3://K:S@h/bucket", .scheme),
      ("https://h/bucket", .scheme), ("folder:/x", .scheme),
      ("folder://host/x", .path), ("folder://", .path), ("folder:///a%00b", .path),
      ("folder:///a?x=y", .parameter), ("folder:///a b", .characters), ("folder:///a#b", .characters),
      ("folder:///\u{e4}", .characters), ("folder:///%", .encoding), ("folder:///%4", .encoding),
      ("folder:///%4g", .encoding), ("folder:///%ff", .encoding),
      ("s3://h/bucket", .credentials), ("s3://K@h/bucket", .credentials), ("s3://K:@h/bucket", .credentials),
      ("s3://:S@h/bucket", .credentials), ("s3://K:S:T@h/bucket", .credentials),
      ("s3://K:S@T@h/bucket", .credentials), ("s3://K:S/T@h/bucket", .credentials),
      ("s3://K%2F:S@h/bucket", .credentials), ("s3://K%0A:S@h/bucket", .credentials),
      ("s3://K:S%zz@h/bucket", .encoding),
      ("s3://K:S@/bucket", .host), ("s3://K:S@-h/bucket", .host), ("s3://K:S@H/bucket", .host),
      ("s3://K:S@h%41/bucket", .host), ("s3://K:S@[::1/bucket", .port), ("s3://K:S@[x]/bucket", .host),
      ("s3://K:S@h:/bucket", .port), ("s3://K:S@h:0/bucket", .port), ("s3://K:S@h:65536/bucket", .port),
      ("s3://K:S@h:08/bucket", .port), ("s3://K:S@h:+8/bucket", .port),
      ("s3://K:S@h", .bucket), ("s3://K:S@h/", .bucket), ("s3://K:S@h/ab", .bucket),
      ("s3://K:S@h/buck%20et", .bucket), ("s3://K:S@h/...", .bucket),
      ("s3://K:S@h/bucket/", .prefix), ("s3://K:S@h/bucket//a", .prefix), ("s3://K:S@h/bucket/a/", .prefix),
      ("s3://K:S@h/bucket/../a", .prefix), ("s3://K:S@h/bucket/%2E%2E/a", .prefix),
      ("s3://K:S@h/bucket/a%0Ab", .prefix),
      ("s3://K:S@h/bucket?", .parameter), ("s3://K:S@h/bucket?x=y", .parameter),
      ("s3://K:S@h/bucket?region", .parameter), ("s3://K:S@h/bucket?region=", .region),
      ("s3://K:S@h/bucket?region=a&region=b", .parameter), ("s3://K:S@h/bucket?region=a&", .parameter),
      ("s3://K:S@h/bucket?region=a/b", .region), ("s3://K:S@h/bucket?tls=on", .parameter),
      ("s3://K:S@127.0.0.1/bucket?tls=off&tls=off", .parameter),
      ("s3://K:S@h/bucket?pin=abc", .pin), ("s3://K:S@h/bucket?pin=sha256//abc=", .pin),
      ("s3://K:S@h/bucket?account=00", .parameter),
    ])
  func refused(url: String, error: RemotePlaceError) {
    #expect(throws: error) { try place(url) }
  }

  @Test("A folder is in the file system that it is in, and no service is in any")
  func fileSystems() throws {
    let folder = try RemoteFolder()
    let place = RemotePlace.folder(path: folder.path)
    #expect(place.isInFileSystem(of: folder.path))
    // The kernel's own.
    #expect(!place.isInFileSystem(of: "/proc"))
    #expect(!place.isInFileSystem(of: folder.path + "/nowhere"))
    #expect(!RemotePlace.folder(path: folder.path + "/nowhere").isInFileSystem(of: folder.path + "/nowhere"))
    #expect(try !self.place("s3://K:S@h/bucket").isInFileSystem(of: folder.path))
  }

  @Test("A URL that is too long, or a prefix, is refused")
  func tooLong() throws {
    let long = String(repeating: "a", count: 4_090)
    #expect(throws: RemotePlaceError.tooLong) { try place("folder:///" + long) }
    #expect(throws: RemotePlaceError.prefix) { try place("s3://K:S@h/bucket/" + long.prefix(201)) }
    #expect(try s3("s3://K:S@h/bucket/" + long.prefix(200)).prefix.count == 200)
  }

  @Test("A URL that would be too long as it is kept is refused, since nobody could read it again")
  func tooLongAgain() throws {
    // Each of these is written as three characters.
    let long = String(repeating: "!", count: 1_362)
    #expect(throws: RemotePlaceError.tooLong) { try place("folder:///a" + long) }
    let longest = try place("folder:///" + long)
    #expect(longest.url().count == RemotePlace.byteCountLimit)
    #expect(try longest.url().withBytes { try RemotePlace(url: $0).description } == longest.description)
  }
}
