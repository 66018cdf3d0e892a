// SPDX-License-Identifier: Apache-2.0

package import Remotes

extension CourierPage {
  /// Pages in a row without an object of ours, at most: others may have a million objects among ours, and a server that
  /// never comes to an end is not waited for.
  package static let emptyPageLimit = 1_000
  /// Objects in a whole list, at most; whoever lists keeps their names in memory.
  package static let listedObjectLimit = 2_000_000

  /// Hands on the objects of a whole list, page by page.
  ///
  /// - Parameter page: gets the page with a continuation.
  /// - Returns: the server's time, from the last page.
  /// - Throws: `RemoteError.invalidAnswer` for pages that repeat an object or do not end.
  package static func list(
    _ body: (RemoteObject) -> Void, page: (_ continuation: String) throws(RemoteError) -> CourierPage
  ) throws(RemoteError) -> UInt64? {
    var (continuation, last, emptyPages, objectCount) = ("", "", 0, 0)
    while true {
      let page = try page(continuation)
      emptyPages = page.objects.isEmpty ? emptyPages + 1 : 0
      objectCount += page.objects.count
      guard page.objects.first.map({ $0.name > last }) ?? true, emptyPages <= emptyPageLimit,
        objectCount <= listedObjectLimit
      else { throw .invalidAnswer }
      page.objects.forEach(body)
      if page.continuation.isEmpty { return page.time }
      last = page.objects.last?.name ?? last
      continuation = page.continuation
    }
  }
}
