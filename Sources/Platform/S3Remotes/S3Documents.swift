// SPDX-License-Identifier: Apache-2.0
//
// The two documents of S3 that are read: a page of ListObjectsV2, and an error.

internal import CourierProtocol
internal import Remotes
internal import Texts

/// A page of ListObjectsV2, with the keys of the bucket.
struct S3ListPage {
  /// 1,000 keys of 1,024 characters, each written as "&quot;", and 600 bytes around each.
  static let byteCountLimit = 8 << 20

  struct Entry: Equatable {
    let key: String
    let byteCount: Int
    /// Seconds since 1970.
    let date: UInt64
  }

  private(set) var entries: [Entry] = []
  /// Nil in the last page.
  private(set) var continuation: String?

  init(_ document: [UInt8]) throws(XMLError) {
    var entries: [Entry] = []
    var (isTruncated, next) = (false, String?.none)
    var (key, byteCount, date) = (String?.none, Int?.none, UInt64?.none)
    var isList = false
    try XMLReader.read(document) { path, text throws(XMLError) in
      guard path.first == "ListBucketResult" else { throw XMLError() }
      isList = true
      switch Array(path.dropFirst()) {
      case ["IsTruncated"]:
        guard text == "true" || text == "false" else { throw XMLError() }
        isTruncated = text == "true"
      case ["NextContinuationToken"]: next = text
      case ["Contents", "Key"]: key = text
      case ["Contents", "Size"]: byteCount = Int(text).flatMap { $0 >= 0 ? $0 : nil }
      case ["Contents", "LastModified"]: date = RFC3339.parse(text).flatMap { UInt64(exactly: $0) }
      case ["Contents"]:
        guard let foundKey = key, let foundCount = byteCount, let foundDate = date,
          entries.count < CourierPage.objectCountLimit
        else { throw XMLError() }
        entries.append(Entry(key: foundKey, byteCount: foundCount, date: foundDate))
        (key, byteCount, date) = (nil, nil, nil)
      default: break
      }
    }
    guard isList else { throw XMLError() }
    if isTruncated {
      guard let next, (1...CourierRequest.continuationByteCountLimit).contains(next.utf8.count) else {
        throw XMLError()
      }
      continuation = next
    }
    self.entries = entries
  }
}

/// The name of an error, such as `NoSuchKey`.
enum S3ErrorCode {
  /// Nil for what is not an error of S3.
  static func read(_ document: [UInt8]) -> String? {
    var code: String?
    do throws(XMLError) {
      try XMLReader.read(document) { path, text throws(XMLError) in
        if path == ["Error", "Code"] { code = text }
      }
    } catch {
      return nil
    }
    return code
  }
}
