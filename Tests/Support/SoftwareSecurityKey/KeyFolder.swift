// SPDX-License-Identifier: Apache-2.0
//
// Security keys in a folder, for tests that start a program: a file for each, and the list of those that are plugged.

#if SecurityKeys
  import Foundation
  import SecurityKeys

  /// What a file says of a key.
  struct StoredKey: Codable {
    var memory: AuthenticatorMemory
    var touch = "comes"
    var finger = "none"
    var hasSecrets = true

    func apply(to key: SoftwareSecurityKey) {
      var behaviour = SoftwareSecurityKey.Behaviour()
      behaviour.hasSecrets = hasSecrets
      behaviour.touch =
        ["comes": .comes, "late": .timesOut, "never": .never, "unplugged": .unplugged][touch] ?? .comes
      behaviour.hasReader = finger != "none"
      behaviour.finger = ["known": .known, "unknown": .unknown, "blocked": .blocked][finger] ?? .known
      key.behaviour = behaviour
    }
  }

  /// The keys of a folder.
  public final class KeyFolder: SecurityKeyFinder {
    private let folder: URL

    public init(_ path: String) { folder = URL(filePath: path) }

    public func keys() throws(SecurityKeyError) -> [any SecurityKey] {
      do {
        return try plugged().map { name in
          let stored = try read(name)
          let key = SoftwareSecurityKey(stored.memory) { [self] memory in
            // Told to the next program; a test that cannot write fails by what it sees then.
            try? write(
              name,
              StoredKey(
                memory: memory, touch: stored.touch, finger: stored.finger,
                hasSecrets: stored.hasSecrets))
          }
          stored.apply(to: key)
          return key.device()
        }
      } catch { throw .failed(code: -1) }
    }

    /// Does what the words say:
    ///
    ///     new NAME PIN         a new key; `-` for no PIN
    ///     plug NAME…           these are plugged in, and no other
    ///     touch NAME HOW       comes, late, never or unplugged
    ///     finger NAME HOW      none, known, unknown or blocked
    ///     without-secrets NAME it lacks hmac-secret
    public func perform(_ words: [String]) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
      case ("plug", _, _):
        try Data(words.dropFirst().joined(separator: "\n").utf8).write(to: folder.appending(path: "plugged"))
      case ("new", let name?, let pin?):
        try write(name, StoredKey(memory: AuthenticatorMemory(pin: pin == "-" ? nil : pin)))
      case ("touch", let name?, let how?): try change(name) { $0.touch = how }
      case ("finger", let name?, let how?): try change(name) { $0.finger = how }
      case ("without-secrets", let name?, _): try change(name) { $0.hasSecrets = false }
      default: throw SecurityKeyError.failed(code: -1)
      }
    }

    private func plugged() throws -> [String] {
      let list = folder.appending(path: "plugged")
      guard FileManager.default.fileExists(atPath: list.path()) else { return [] }
      return try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func read(_ name: String) throws -> StoredKey {
      try JSONDecoder().decode(StoredKey.self, from: Data(contentsOf: folder.appending(path: name + ".key")))
    }

    private func write(_ name: String, _ key: StoredKey) throws {
      try JSONEncoder().encode(key).write(to: folder.appending(path: name + ".key"), options: .atomic)
    }

    private func change(_ name: String, _ change: (inout StoredKey) -> Void) throws {
      var key = try read(name)
      change(&key)
      try write(name, key)
    }
  }
#endif
