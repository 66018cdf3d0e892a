// SPDX-License-Identifier: Apache-2.0

/// What was probably meant by a misspelt word.
enum NearName {
  /// The nearest of `names`, if two changes or fewer make `word` of it, and no more than a third of its letters change.
  static func of(_ word: String, among names: some Sequence<String>) -> String? {
    let near = names.map { (name: $0, distance: distance(word, $0)) }
      .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    guard let near, near.distance <= 2, 3 * near.distance <= near.name.count else { return nil }
    return near.name
  }

  /// The nearest of the names of commands: one that means the same, else one that is spelt alike.
  static func ofCommand(_ word: String, among names: Set<String>) -> String? {
    let synonyms = synonyms.lazy.filter { $0.contains(word) }.joined()
    return synonyms.first(where: names.contains) ?? of(word, among: names)
  }

  /// Words that other programs use for what a command does, beside its name.
  private static let synonyms = [
    ["init", "create", "setup"], ["generate", "create", "new", "gen"],
    ["add", "new", "create", "insert", "put"],
    ["list", "ls", "all"], ["show", "cat", "get", "view", "read", "print"], ["search", "find", "grep"],
    ["remove", "delete", "rm", "del"], ["delete", "remove", "rm", "del"],
    ["set", "edit", "change", "modify"],
    ["history", "log", "versions"], ["restore", "undo", "undelete"], ["empty", "purge", "clear"],
    ["settings", "config", "options"], ["unlock", "open", "login"], ["lock", "close", "logout"],
    ["doctor", "check", "fsck"], ["audit", "log"], ["erase", "destroy", "wipe"], ["status", "info"],
    ["drill", "test"], ["passphrase", "password", "passwd"],
  ]

  /// The nearest of names of people, of words in them and of addresses, in any case.
  static func ofPerson(_ who: String, among names: [String]) -> String? {
    let words = names.flatMap { [$0] + $0.split(separator: " ").map(String.init) }
    let folded = Dictionary(words.map { ($0.lowercased(), $0) }) { first, _ in first }
    return of(who.lowercased(), among: folded.keys).flatMap { folded[$0] }
  }

  /// How many letters have to be put in, taken away, exchanged, or swapped with the next one.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    var before: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
      var next = [row + 1]
      for column in second.indices {
        let cost = first[row] == second[column] ? 0 : 1
        var best = min(last[column] + cost, last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          best = min(best, before[column - 1] + 1)
        }
        next.append(best)
      }
      (before, last) = (last, next)
    }
    return last[second.count]
  }
}
