// SPDX-License-Identifier: Apache-2.0
//
// Answers of a server that nobody trusts: what S3 writes is read, all else is an error, and nothing grows.

import CourierProtocol
import Extents
import SeededGenerators
import Testing

@testable import S3Remotes

@Suite("Reading S3's XML")
struct XMLReaderTests {
  private static let page = """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/" a='>'>
      <Name>bucket</Name><Prefix/><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys>
      <IsTruncated>true</IsTruncated><NextContinuationToken>1&amp;+/=</NextContinuationToken>
      <Contents><Key>a/b&#x2d;c&#45;d&lt;&gt;&quot;&apos;</Key><LastModified>2026-11-26T09:00:00.123Z</LastModified>
        <ETag>&quot;0&quot;</ETag><Size>12</Size><Owner><ID>x</ID><DisplayName>y</DisplayName></Owner>
        <StorageClass>STANDARD</StorageClass></Contents>
      <Contents><Size>0</Size><Key> z </Key><LastModified>1970-01-01T00:00:01Z</LastModified></Contents>
    </ListBucketResult>
    """

  private func list(_ text: String) throws -> S3ListPage { try S3ListPage(Array(text.utf8)) }

  @Test("A page of a list is read as S3 writes it")
  func listing() throws {
    let page = try list(Self.page)
    #expect(
      page.entries == [
        S3ListPage.Entry(key: "a/b-c-d<>\"'", byteCount: 12, date: 1_795_683_600),
        S3ListPage.Entry(key: " z ", byteCount: 0, date: 1),
      ])
    #expect(page.continuation == "1&+/=")
    let last = try list("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
    #expect(last.entries == [] && last.continuation == nil)
  }

  @Test("An error's name is read; a page for people has none")
  func errors() {
    let text = "<?xml version='1.0'?>\n<Error><Code>NoSuchKey</Code><Message>x</Message></Error>\n"
    #expect(S3ErrorCode.read(Array(text.utf8)) == "NoSuchKey")
    for text in ["", "<html><body><p>Log in<br></body></html>", "<Error/>", "{\"Code\": 1}"] {
      #expect(S3ErrorCode.read(Array(text.utf8)) == nil)
    }
  }

  @Test(
    "What is not a list is an error",
    arguments: [
      "", " ", "<a/>", "<ListBucketResult>", "<ListBucketResult></ListBucketResults>",
      "<ListBucketResult/><ListBucketResult/>", "<ListBucketResult/>x",
      "<!DOCTYPE a [<!ENTITY b 'c'>]><ListBucketResult/>", "<ListBucketResult><!-- --></ListBucketResult>",
      "<ListBucketResult><![CDATA[x]]></ListBucketResult>", "<ListBucketResult><?x?></ListBucketResult>",
      "<ListBucketResult>&b;</ListBucketResult>", "<ListBucketResult>&#xD800;</ListBucketResult>",
      "<ListBucketResult>&#99999999999;</ListBucketResult>", "<ListBucketResult>&#38</ListBucketResult>",
      "<ListBucketResult a></ListBucketResult>", "<ListBucketResult a=b></ListBucketResult>",
      "<ListBucketResult a=\"b></ListBucketResult>", "<?xml <ListBucketResult/>",
      "<ListBucketResult><IsTruncated>yes</IsTruncated></ListBucketResult>",
      "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
      "<ListBucketResult><Contents/></ListBucketResult>",
      "<ListBucketResult><Contents><Key>a</Key><Size>1</Size></Contents></ListBucketResult>",
      "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size><LastModified>2026-11-26T09:00:00Z</LastModified>"
        + "</Contents></ListBucketResult>",
    ])
  func refused(text: String) {
    #expect(throws: XMLError.self) { try list(text) }
  }

  @Test("Depth, texts, names and objects have limits")
  func limits() throws {
    let deep = { (count: Int) in
      String(repeating: "<ListBucketResult>", count: count)
        + String(repeating: "</ListBucketResult>", count: count)
    }
    #expect(try list(deep(8)).entries == [])
    #expect(throws: XMLError.self) { try list(deep(9)) }
    #expect(throws: XMLError.self) { try list(String(repeating: "<ListBucketResult>", count: 1_000_000)) }
    let text = { (count: Int) in
      "<ListBucketResult><A>\(String(repeating: "&lt;", count: count))</A></ListBucketResult>"
    }
    #expect(try list(text(8_192)).entries == [])
    #expect(throws: XMLError.self) { try list(text(8_193)) }
    #expect(throws: XMLError.self) { try list("<" + String(repeating: "A", count: 8_193) + "/>") }
    let object =
      "<Contents><Key>a</Key><Size>1</Size><LastModified>2026-11-26T09:00:00Z</LastModified></Contents>"
    let objects = { "<ListBucketResult>\(String(repeating: object, count: $0))</ListBucketResult>" }
    #expect(try list(objects(1_000)).entries.count == 1_000)
    #expect(throws: XMLError.self) { try list(objects(1_001)) }
    let token = { (count: Int) in
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>\(String(repeating: "a", count: count))"
        + "</NextContinuationToken></ListBucketResult>"
    }
    #expect(try list(token(4_096)).continuation?.count == 4_096)
    #expect(throws: XMLError.self) { try list(token(4_097)) }
  }

  @Test("Changed documents are read or refused, and texts stay within their limit")
  func mutations() {
    let original = Array(Self.page.utf8)
    var (documents, refusals) = (0, 0)
    for var random in Shares("changed documents", count: 8).generators(full: 8) {
      for _ in 0..<2_500 {
        let bytes = changed(original, &random)
        do throws(XMLError) {
          try XMLReader.read(bytes) { path, text throws(XMLError) in
            #expect(path.count <= XMLReader.depthLimit && text.utf8.count <= XMLReader.textByteCountLimit)
          }
        } catch { refusals += 1 }
        _ = try? S3ListPage(bytes)
        _ = S3ErrorCode.read(bytes)
        documents += 1
      }
    }
    // Many changes leave a document: both were tried.
    #expect((documents / 20..<documents * 19 / 20).contains(refusals), "\(refusals)")
  }

  private func changed(_ original: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = original
    for _ in 0...Int.random(in: 0..<4, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert("<>&/\"'!?;".utf8.randomElement(using: &random)!, at: place)
      default: bytes.removeSubrange(place..<min(place + 40, bytes.count))
      }
      if bytes.isEmpty { bytes = [0] }
    }
    return bytes
  }
}
