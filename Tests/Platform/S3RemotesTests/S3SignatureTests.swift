// SPDX-License-Identifier: Apache-2.0
//
// The examples that Amazon publishes for signatures in a header:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html

import Primitives
import Secrets
import Testing

@testable import S3Remotes

@Suite("Signature Version 4")
struct S3SignatureTests {
  struct Request: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let method: String
    var path = "/"
    var query: [(String, String)] = []
    var headers: [(String, String)] = []
    var body = ""
    let signature: String
  }

  static let published = [
    Request(
      testDescription: "GET Object", method: "GET", path: "/test.txt", headers: [("range", "bytes=0-9")],
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    Request(
      testDescription: "PUT Object", method: "PUT", path: "/test%24file.text",
      headers: [
        ("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
      ],
      body: "Welcome to Amazon S3.",
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    Request(
      testDescription: "GET Bucket Lifecycle", method: "GET", query: [("lifecycle", "")],
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    Request(
      testDescription: "GET Bucket (List Objects)", method: "GET",
      query: [("max-keys", "2"), ("prefix", "J")],
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]

  @Test("It is that of the published examples", arguments: published)
  func examples(example: Request) throws {
    let secret = Array("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".utf8)
    let signer = S3Signer(
      region: "us-east-1", accessKey: "AKIAIOSFODNN7EXAMPLE",
      secretKey: SharedSecretBytes(SecretBytes(copying: secret.span.bytes)))
    var request = S3SignedRequest(
      method: example.method, path: example.path, query: example.query.map { (name: $0, value: $1) },
      headers: [("host", "examplebucket.s3.amazonaws.com")] + example.headers.map { (name: $0, value: $1) },
      bodyHash: Hexadecimal.text(SHA256.hash(Array(example.body.utf8).span.bytes)))
    // 2013-05-24T00:00:00Z
    signer.sign(&request, time: 1_369_353_600)
    let header = try #require(request.headers.first { $0.name == "authorization" }).value
    #expect(header.hasSuffix(",Signature=" + example.signature))
    #expect(
      header.hasPrefix(
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders="))
    #expect(request.headers.contains { $0 == ("x-amz-date", "20130524T000000Z") })
  }

  @Test("The query is sorted by its encoded names")
  func query() {
    let request = S3SignedRequest(
      method: "GET", path: "/b",
      query: [("prefix", "a b/\u{e4}"), ("list-type", "2"), ("continuation-token", "1+/=")], headers: [],
      bodyHash: "")
    #expect(request.canonicalQuery == "continuation-token=1%2B%2F%3D&list-type=2&prefix=a%20b%2F%C3%A4")
  }
}
