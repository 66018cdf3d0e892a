// SPDX-License-Identifier: Apache-2.0
//
// A server whose table of objects is on a disk of 8 MiB: a tmpfs in the server's own mount namespace, which
// ends with it. Its log of changes is elsewhere, since PostgreSQL stops when that has no room.

import Foundation
import Glibc
import Testing

/// A server with the table on a small disk.
public final class SmallTablespace {
  /// Only root may mount one and start a server that is not root's.
  public static let isPossible: Bool = {
    guard geteuid() == 0, PostgreSQLServer.isInstalled else { return false }
    return (try? PostgreSQLServer.run(["/usr/bin/unshare", "--mount", "/bin/true"])) != nil
  }()

  public let server: PostgreSQLServer

  public init() throws {
    server = try PostgreSQLServer(diskByteCount: 8 << 20)
    try server.sql("CREATE TABLESPACE small LOCATION '\(server.disk)'")
    try server.sql("ALTER TABLE coffer.object SET TABLESPACE small")
  }

  /// Gives the disk more room.
  public func grow() throws {
    let process = try #require(server.postmaster())
    try PostgreSQLServer.run([
      "/usr/bin/nsenter", "--target", "\(process)", "--mount", "/bin/mount", "-o", "remount,size=64m",
      server.disk,
    ])
  }
}
