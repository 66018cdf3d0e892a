// SPDX-License-Identifier: Apache-2.0
//
// One request after the other, as one device makes them.

import Remotes

extension RemoteCheck {
  func writingAndReading() throws {
    for (index, count) in [1, 2, 511, 512, 513, 4_096, 100_003].enumerated() {
      let name = name("slots/\(index)")
      try remote.put(name, Self.bytes(count))
      try expect(name, Self.bytes(count))
    }
    // Another object is another one.
    try expect(name("slots/0"), Self.bytes(1))
  }

  func listing() throws {
    let names = ["format", "control/1-a", "control/2-b", "chain/d/0/1-a", "pack/d/0a/0a1", "pack/d/0b/0b1"]
    for (index, name) in names.enumerated() { try remote.put(self.name(name), Self.bytes(index + 1)) }
    let all = Dictionary(uniqueKeysWithValues: names.enumerated().map { (name($1), $0 + 1) })
    try expect(try list(account) == all, "list of an account has other objects")
    for folder in ["control", "chain", "chain/d", "chain/d/0", "pack", "pack/d", "pack/d/0a"] {
      let expected = all.filter { $0.key.hasPrefix(name(folder) + "/") }
      let found = try list(name(folder))
      try expect(!expected.isEmpty && found == expected, "list '\(folder)': \(found)")
    }
    let whole = try list("").filter { $0.key.hasPrefix(account + "/") }
    try expect(whole == all, "list of the whole remote has other objects")
    // What was put is in the next list, and what was deleted is not.
    try remote.put(name("control/3-c"), [1])
    try expect(try list(name("control")).count == 3, "a list after a put lacks the object")
    try remote.delete(name("control/1-a"))
    try expect(
      try Set(list(name("control")).keys) == [name("control/2-b"), name("control/3-c")],
      "a list after a delete is not what is there")
    let answer = try remote.list(name("control"))
    for object in answer.objects {
      try expect((object.date == nil) == (answer.time == nil), "dates without a time, or the reverse")
    }
  }

  func emptyFolders() throws {
    try remote.put(name("pack/d/0a/0a1"), [1])
    for folder in ["slots", "pack/e", "pack/d/0", "pack/d/0a/0a1", "pack/d/0a/0a1/more", "a/b/c/d"] {
      let found = try list(name(folder))
      try expect(found.isEmpty, "list '\(folder)', which is no folder: \(found)")
    }
    try remote.delete(name("pack/d/0a/0a1"))
    try expect(try list(name("pack")).isEmpty, "a folder without objects has some")
  }

  func ranges() throws {
    let all = Self.bytes(1_000)
    let name = name("slots/ranges")
    try remote.put(name, all)
    for range in [
      0..<1_000, 0..<1, 1..<2, 999..<1_000, 10..<700, 500..<2_000, 0..<Int.max, 1_000..<1_001, 5_000..<6_000,
      7..<7,
      0..<0,
    ] {
      let found = try remote.get(name, range: range)
      try expect(
        found == Array(all[range.clamped(to: 0..<1_000)]), "get \(range): \(found?.count ?? -1) bytes")
    }
    try expect(try remote.get(name + "-not", range: 0..<1) == nil, "a range of nothing")
  }

  func overwriting() throws {
    let name = name("slots/overwritten")
    for (count, seed) in [(3_000, 0), (3_000, 0), (3_000, 1), (10, 2), (50_000, 3), (0, 0), (1, 4)] {
      let bytes = Self.bytes(count, seed: UInt8(seed))
      try remote.put(name, bytes)
      try expect(name, bytes)
      let found = try list(account)
      try expect(found == [name: count], "list after overwriting: \(found)")
    }
  }

  func missing() throws {
    try remote.put(name("slots/there"), [1])
    for other in ["slots/not-there", "slots", "slots/there/more", "not/there", "x"] {
      try expect(name(other), nil)
    }
    try expect("not-there-\(account)", nil)
  }

  func deleting() throws {
    let (name, other) = (name("slots/one"), name("slots/other"))
    try remote.put(name, [1])
    try remote.put(other, [2])
    try remote.delete(name)
    try expect(name, nil)
    try expect(other, [2])
    // Again, and where there never was anything: no error.
    for missing in [name, self.name("slots"), self.name("never/there"), "never-\(account)"] {
      try remote.delete(missing)
    }
    try expect(other, [2])
    try remote.put(name, [3])
    try expect(name, [3])
  }

  func names() throws {
    let long = String(repeating: "0", count: RemoteName.partByteCountLimit)
    let parts = ["a", "-", "--", "0", "con", "nul", "a-", "-rf", long]
    let names =
      parts.map { name("odd/" + $0) } + [name("1/2/3/4/5"), name("l/\(long)/\(long)/\(long)/\(long)")]
    for (index, name) in names.enumerated() { try remote.put(name, [UInt8(index)]) }
    for (index, name) in names.enumerated() { try expect(name, [UInt8(index)]) }
    try expect(try Set(list(account).keys) == Set(names), "a list of odd names has others")
  }

  func foreignNames() throws {
    try remote.put(name("slots/there"), [1])
    let long = String(repeating: "0", count: RemoteName.partByteCountLimit + 1)
    for part in [
      "", ".", "..", "A", "a.b", "a b", "ä", "a_b", "a\u{0}b", "a\nb", ".hidden", "a%2fb", "a\\b", "a:b", "*",
      "~", long,
    ] {
      for foreign in [name(part), name(part + "/a"), name("slots/../" + part)] {
        try expect(.refused(.name), "put '\(foreign)'") { try remote.put(foreign, [1]) }
        try expect(foreign, nil)
        try remote.delete(foreign)
        let found = try list(foreign)
        // The account with a slash after it is not a folder's name either.
        try expect(found.isEmpty, "list '\(foreign)': \(found)")
      }
    }
    for foreign in ["", "/", "/" + account, account + "/", account + "//a", name("1/2/3/4/5/6")] {
      try expect(.refused(.name), "put '\(foreign)'") { try remote.put(foreign, [1]) }
      try expect(foreign, nil)
      try remote.delete(foreign)
    }
    try expect(name("slots/there"), [1])
    try expect(try list(account).count == 1, "something else is there")
  }

  func emptyObject() throws {
    let name = name("slots/empty")
    try remote.put(name, [])
    try expect(name, [])
    try expect(try remote.get(name, range: 0..<10) == [], "a range of an empty object")
    try expect(try list(account) == [name: 0], "a list with an empty object")
  }

  func largeObject() throws {
    let name = name("pack/d/0a/large")
    let bytes = Self.bytes(16 << 20)
    for _ in 1...2 {
      try remote.put(name, bytes)
      try expect(name, bytes)
    }
    let middle = (8 << 20) - 3..<(8 << 20) + 5
    try expect(try remote.get(name, range: middle) == Array(bytes[middle]), "a range of a large object")
    var other = bytes
    other[bytes.count - 1] ^= 1
    try remote.put(name, other)
    try expect(name, other)
  }

  func tooLargeObject() throws {
    let name = name("pack/d/0a/too-large")
    let bytes = [UInt8](repeating: 0, count: RemoteObject.byteCountLimit + 1)
    try expect(.refused(.tooLarge), "put of an object above the limit") { try remote.put(name, bytes) }
    try expect(name, nil)
  }
}
