// SPDX-License-Identifier: Apache-2.0
//
// Lists of servers that do not come to an end.

import Remotes
import Testing

@testable import CourierProtocol

@Suite("A list, page by page")
struct CourierPageTests {
  /// A server that always has more.
  private func listed(objectsPerPage: Int) -> (count: Int, error: RemoteError?) {
    var (count, pageNumber) = (0, 0)
    do throws(RemoteError) {
      _ = try CourierPage.list { _ in
        count += 1
      } page: { _ in
        pageNumber += 1
        let objects = (0..<objectsPerPage).map { number in
          RemoteObject(name: "a/\(pageNumber * 1_000 + number + 10_000_000)", byteCount: 1, date: nil)
        }
        return CourierPage(objects: objects, time: nil, continuation: "more")
      }
      return (count, nil)
    } catch {
      return (count, error)
    }
  }

  @Test("A server that never ends is not listened to for ever, and fills no memory")
  func endless() {
    let full = listed(objectsPerPage: CourierPage.objectCountLimit)
    #expect(full.count == CourierPage.listedObjectLimit && full.error == .invalidAnswer)
    let empty = listed(objectsPerPage: 0)
    #expect(empty.count == 0 && empty.error == .invalidAnswer)
  }
}
