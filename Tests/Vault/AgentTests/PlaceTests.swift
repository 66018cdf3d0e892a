// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Agent

@Suite("Where the agent listens")
struct PlaceTests {
  @Test("Without an agent there is no client, and nothing is made")
  func noAgent() throws {
    let folder = try RuntimeFolder()
    let finder = AgentFinder(home: folder.home, binding: binding("of no agent"), runtime: folder.path)
    #expect(finder.look() == AgentFinder.Sight())
    #expect(try !finder.lock() && !finder.end())
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/coffer"))
    #expect(AgentClient.connect(try folder.place()) == nil)
    let nothing = AgentFinder(home: folder.path + "/nothing", binding: nil, runtime: folder.path)
    #expect(try nothing.keys(.all) == nil && !nothing.lock())
    #expect(throws: AgentError.noHome) {
      try AgentPlace(home: folder.path + "/nothing", runtime: folder.path)
    }
  }

  @Test("Folder, socket and lock are closed to others, and the socket goes with the agent")
  func modes() throws {
    let served = try ServedHome()
    defer { served.end() }
    #expect(try mode(served.folder.path + "/coffer") == 0o700)
    #expect(try mode(served.place.folder) == 0o700)
    #expect(try mode(served.place.socket) == 0o600)
    #expect(try mode(served.place.lock) == 0o600)
    served.end()
    #expect(!FileManager.default.fileExists(atPath: served.place.socket))
  }

  private func mode(_ path: String) throws -> mode_t {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status.st_mode & 0o7777
  }

  @Test("The same home by another name has the same agent; another home has another")
  func names() throws {
    let folder = try RuntimeFolder()
    symlink(folder.home, folder.path + "/link")
    mkdir(folder.path + "/other", 0o700)
    let place = try folder.place()
    let link = try AgentPlace(home: folder.path + "/./link/", runtime: folder.path)
    let other = try AgentPlace(home: folder.path + "/other", runtime: folder.path)
    #expect(place == link)
    #expect(place.folder != other.folder)
    let name = try #require(place.folder.split(separator: "/").last)
    #expect(name.count == 32 && name.allSatisfy { $0.isHexDigit && !$0.isUppercase })
  }

  enum Trap: CaseIterable, Sendable { case openToGroup, openToOthers, link, file }

  @Test("A folder that others could reach, or that is none, is not used", arguments: Trap.allCases)
  func traps(trap: Trap) throws {
    let folder = try RuntimeFolder()
    let path = folder.path + "/coffer"
    switch trap {
    case .openToGroup:
      mkdir(path, 0o700)
      chmod(path, 0o750)
    case .openToOthers:
      mkdir(path, 0o700)
      chmod(path, 0o701)
    case .link:
      mkdir(folder.path + "/real", 0o700)
      symlink(folder.path + "/real", path)
    case .file: close(creat(path, 0o600))
    }
    #expect(throws: AgentError.noRuntimeDirectory) { try folder.place() }
  }

  @Test("A folder of another user is not used", .enabled(if: geteuid() == 0, "only root can give it away"))
  func otherOwner() throws {
    let folder = try RuntimeFolder()
    mkdir(folder.path + "/coffer", 0o700)
    chown(folder.path + "/coffer", 65_534, 65_534)
    #expect(throws: AgentError.noRuntimeDirectory) { try folder.place() }
  }

  @Test("A path that is too long for a socket is an error")
  func tooLong() throws {
    let folder = try RuntimeFolder()
    let runtime = folder.path + "/" + String(repeating: "x", count: 100)
    mkdir(runtime, 0o700)
    let place = try AgentPlace(home: folder.home, runtime: runtime)
    #expect(throws: AgentError.pathTooLong) { _ = try AgentServer.Listening(place) }
    #expect(AgentClient.connect(place) == nil)
  }

  @Test("A socket that a dead agent left is replaced; so is any file in its place", arguments: [true, false])
  func stale(isSocket: Bool) throws {
    let folder = try RuntimeFolder()
    let place = try folder.place()
    if isSocket {
      let left = try PacketSocket()
      let number = left.descriptor
      let result = try PacketSocket.withAddress(place.socket) { bind(number, $0, $1) }
      #expect(result == 0)
    } else {
      close(creat(place.socket, 0o600))
    }
    #expect(AgentClient.connect(place) == nil)
    let listening = try AgentServer.Listening(place)
    #expect(AgentClient.connect(place) != nil)
    listening.end()
  }

  @Test("A second agent for a home does not start and does not disturb the first")
  func second() throws {
    let served = try ServedHome()
    defer { served.end() }
    #expect(throws: AgentError.alreadyServed) { _ = try AgentServer.Listening(served.place) }
    #expect(try served.client().status().state == .neverUnlocked)
  }
}
