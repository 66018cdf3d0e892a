// SPDX-License-Identifier: Apache-2.0
//
// How much memory a key derivation may take. The least of what the kernel says is available, the rest of
// every control group up the tree, and the rest of the address-space limit.

internal import CSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Refuses a memory-hard derivation that would exceed three quarters of the available memory.
public struct MemoryGuard: Sendable {
  /// Bytes that are available now.
  public let availableByteCount: Int

  /// A guard for a known amount; for tests and for callers with a tighter budget.
  public init(availableByteCount: Int) { self.availableByteCount = availableByteCount }

  /// Measures this machine and this process, now.
  public static func current() -> MemoryGuard {
    var available = Int.max
    if let known = memAvailable(read("/proc/meminfo")) { available = min(available, known) }
    for group in controlGroups(read("/proc/self/cgroup")) {
      if let left = left(
        limit: read(group.limitPath), used: read(group.usagePath), statistics: read(group.statisticsPath))
      {
        available = min(available, left)
      }
    }
    let limit = coffer_address_space_limit()
    if limit >= 0 {
      let pages = Int(read("/proc/self/statm")?.split(separator: " ").first ?? "0") ?? 0
      available = min(available, max(0, Int(limit) - pages * coffer_page_size()))
    }
    return MemoryGuard(availableByteCount: available)
  }

  /// Whether a derivation may take `byteCount` bytes.
  public func allows(byteCount: Int) -> Bool {
    byteCount <= availableByteCount / 4 * 3
  }

  // MARK: What the kernel says

  struct ControlGroup: Equatable {
    let limitPath: String
    let usagePath: String
    var statisticsPath: String {
      limitPath.prefix(through: limitPath.lastIndex(of: "/") ?? limitPath.startIndex) + "memory.stat"
    }
  }

  static func memAvailable(_ text: String?) -> Int? {
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }) else {
      return nil
    }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }

  /// The limits above this process: version 2 (one tree) and the memory controller of version 1.
  static func controlGroups(_ text: String?) -> [ControlGroup] {
    var groups: [ControlGroup] = []
    for line in (text ?? "").split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isVersion2 = fields[0] == "0" && fields[1].isEmpty
      guard isVersion2 || fields[1].split(separator: ",").contains("memory") else { continue }
      let root = isVersion2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"
      var path = fields[2].split(separator: "/")
      while true {
        let directory = ([Substring(root)] + path).joined(separator: "/")
        groups.append(
          isVersion2
            ? ControlGroup(limitPath: directory + "/memory.max", usagePath: directory + "/memory.current")
            : ControlGroup(
              limitPath: directory + "/memory.limit_in_bytes",
              usagePath: directory + "/memory.usage_in_bytes"))
        if path.isEmpty { break }
        path.removeLast()
      }
    }
    return groups
  }

  /// The memory that a group leaves: its limit less its usage, not counting file pages that the kernel can
  /// reclaim.
  static func left(limit: String?, used: String?, statistics: String? = nil) -> Int? {
    func number(_ text: String?) -> Int? {
      let words = text?.split(whereSeparator: \.isWhitespace) ?? []
      return words.count == 1 ? Int(words[0]) : nil
    }
    func statistic(_ name: String) -> Int? {
      let line = statistics?.split(separator: "\n").first { $0.hasPrefix(name + " ") }
      return line?.split(separator: " ").last.flatMap { Int($0) }
    }
    guard let limit = number(limit) else { return nil }
    let reclaimable = statistic("total_inactive_file") ?? statistic("inactive_file") ?? 0
    return min(limit, max(0, limit - (number(used) ?? 0) + reclaimable))
  }

  private static func read(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
