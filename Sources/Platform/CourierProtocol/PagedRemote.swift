// SPDX-License-Identifier: Apache-2.0

package import Remotes

/// A remote as the courier has it: its lists come in pages, one a request.
package protocol PagedRemote: Remote {
  /// A page of a list.
  /// - Parameter continuation: empty for the first, else that of the page before.
  func page(_ folder: String, continuation: String) throws(RemoteError) -> CourierPage
}

extension PagedRemote {
  /// Lists the objects in a folder, page by page.
  package func list(_ folder: String, _ body: (RemoteObject) -> Void) throws(RemoteError) -> UInt64? {
    try CourierPage.list(body) { (continuation) throws(RemoteError) in
      try page(folder, continuation: continuation)
    }
  }
}
