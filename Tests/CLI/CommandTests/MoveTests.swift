// SPDX-License-Identifier: Apache-2.0
//
// An account that goes on at another place.

import Foundation
import Testing

@Suite("An account that moves to another place")
struct MoveTests {
  private let devices: TwoDevices

  init() throws {
    devices = try TwoDevices(messages: ["Lease", "Boat"])
    try #require(try devices.restore().status == 0)
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
  }

  private var disk: URL { devices.place.folder.appending(path: "disk") }
  private var url: String { "folder://\(disk.path())" }

  @Test("A device fills the new place, another one follows, and nothing of either is lost")
  func filling() throws {
    #expect(try devices.first(["message", "add", "--title", "Here"], input: "h").status == 0)
    #expect(try devices.second(["message", "add", "--title", "There"], input: "t").status == 0)
    #expect(try devices.first(["remote", "move", url]).status == 3)
    #expect(try devices.first(["remote", "show"]).output.contains("stick"))
    #expect(try devices.first(["remote", "move", "folder:///none", "--yes"]).status == 11)
    let moved = try devices.first(["remote", "move", url, "--yes", "--json"])
    #expect(moved.status == 0 && moved.output.contains(#""wasThere":false"#), "\(moved)")
    #expect(try devices.first(["remote", "show"]).output.contains("disk"))
    let verified = try devices.first(["remote", "verify", "--read", "100"])
    #expect(verified.status == 0, "\(verified)")
    // The other one goes on at the old place until it moves.
    #expect(try devices.second(["sync"]).status == 0)
    let followed = try devices.second(["remote", "move", url])
    #expect(followed.status == 0 && followed.error.contains("was at"), "\(followed)")
    let (here, there) = try devices.lists()
    #expect(here == there)
    #expect(["Lease", "Boat", "Here", "There"].allSatisfy(here.contains), "\(here)")
    // The new place alone gives everything back.
    try FileManager.default.removeItem(at: devices.stick)
    #expect(try devices.first(["remote", "card", "--out", "card3"]).status == 0)
    let third = try devices.first([
      "--home", "third", "remote", "restore", "--card-file", "card3", "--recovery-phrase-out", "words3",
    ])
    #expect(third.status == 0 && third.error.contains("4 messages restored"), "\(third)")
  }

  @Test("A copy of the old place is gone on at without a question")
  func copied() throws {
    try FileManager.default.removeItem(at: disk)
    try FileManager.default.copyItem(at: devices.stick, to: disk)
    let moved = try devices.first(["remote", "move", url])
    #expect(moved.status == 0 && moved.error.contains("was at"), "\(moved)")
    #expect(try devices.first(["sync"]).status == 0)
    // There and back: packs of the other place are no damage here.
    #expect(try devices.first(["message", "add", "--title", "Later"], input: "l").status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    for place in [devices.stick, disk, devices.stick] {
      #expect(try devices.first(["remote", "move", "folder://\(place.path())"]).status == 0)
      let read = try devices.first(["remote", "verify", "--read", "100"])
      #expect(read.status == 0, "\(read)")
    }
  }

  @Test("A photo that is neither here nor at the place is named each time")
  func lostPhoto() throws {
    try devices.place.write(String(repeating: "photo of a meter", count: 20_000), to: "photo.jpg")
    let added = try devices.first(["capture", "add", "photo.jpg"])
    let id = try #require(added.output.split(separator: "\n").first)
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try devices.second(["sync"]).status == 0)
    #expect(try devices.second(["remote", "verify"]).status == 0)
    let packs = try FileManager.default.subpathsOfDirectory(atPath: devices.stick.path()).filter {
      $0.contains("/pack/")
    }.map { devices.stick.appending(path: $0) }.filter { !$0.hasDirectoryPath }
    let largest = try #require(
      packs.max { left, right in
        (try? Data(contentsOf: left).count) ?? 0 < (try? Data(contentsOf: right).count) ?? 0
      })
    try FileManager.default.removeItem(at: largest)
    for _ in 0..<2 {
      let verified = try devices.second(["remote", "verify"])
      #expect(verified.status == 5 && verified.output.contains(id), "\(verified)")
    }
    let drill = try devices.second(["recovery", "drill", "--remote"])
    #expect(drill.status == 5, "\(drill)")
    // The device that has it puts it back.
    #expect(try devices.first(["remote", "verify"]).status == 0)
    #expect(try devices.second(["sync"]).status == 0)
    let again = try devices.second(["remote", "verify"])
    #expect(again.status == 0, "\(again)")
    #expect(try devices.second(["capture", "keep", "--all"]).status == 0)
  }

  @Test("A device that lacks a photo fills no place, and stays where it was")
  func capturesElsewhere() throws {
    try devices.place.write(String(repeating: "photo of a meter", count: 20_000), to: "photo.jpg")
    #expect(try devices.first(["capture", "add", "photo.jpg"]).status == 0)
    #expect(try devices.first(["sync"]).status == 0)
    #expect(try devices.second(["sync"]).status == 0)
    let refused = try devices.second(["remote", "move", url, "--yes"])
    #expect(refused.status == 7 && refused.error.contains("'coffer capture keep --all'"), "\(refused)")
    #expect(try devices.second(["sync"]).status == 0)
    #expect(try devices.second(["remote", "show"]).output.contains("stick"))
  }
}
