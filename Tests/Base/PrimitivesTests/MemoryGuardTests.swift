// SPDX-License-Identifier: Apache-2.0
//
// The guard before Argon2id: what it reads from the kernel, and that it refuses before it allocates.

import Foundation
import Testing

@testable import Primitives

@Suite("Memory guard")
struct MemoryGuardTests {
  @Test("MemAvailable is read from meminfo, in bytes")
  func memAvailable() {
    let text = """
      MemTotal:        8148596 kB
      MemFree:          123456 kB
      MemAvailable:    6012345 kB
      Buffers:           10000 kB

      """
    #expect(MemoryGuard.memAvailable(text) == 6_012_345 * 1_024)
    #expect(MemoryGuard.memAvailable("MemTotal: 1 kB\nMemFree: 1 kB\n") == nil)
    #expect(MemoryGuard.memAvailable("MemAvailable: many kB\n") == nil)
    #expect(MemoryGuard.memAvailable("MemAvailable:") == nil)
    #expect(MemoryGuard.memAvailable("") == nil)
    #expect(MemoryGuard.memAvailable(nil) == nil)
  }

  private func group2(_ path: String) -> MemoryGuard.ControlGroup {
    .init(limitPath: path + "/memory.max", usagePath: path + "/memory.current")
  }

  private func group1(_ path: String) -> MemoryGuard.ControlGroup {
    .init(limitPath: path + "/memory.limit_in_bytes", usagePath: path + "/memory.usage_in_bytes")
  }

  @Test("Version 2: the group of this process and every group above it")
  func controlGroups2() {
    #expect(
      MemoryGuard.controlGroups("0::/user.slice/user-1000.slice/session-2.scope\n") == [
        group2("/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope"),
        group2("/sys/fs/cgroup/user.slice/user-1000.slice"),
        group2("/sys/fs/cgroup/user.slice"), group2("/sys/fs/cgroup"),
      ])
    #expect(MemoryGuard.controlGroups("0::/\n") == [group2("/sys/fs/cgroup")])
    #expect(
      MemoryGuard.controlGroups("0::/a:b\n") == [
        group2("/sys/fs/cgroup/a:b"), group2("/sys/fs/cgroup"),
      ])
  }

  @Test("Version 1: only the memory controller, also when it shares its line")
  func controlGroups1() {
    let text = """
      12:cpuset:/docker/abc
      9:name=systemd:/docker/abc
      5:cpu,memory:/docker/abc
      1:pids:/

      """
    #expect(
      MemoryGuard.controlGroups(text) == [
        group1("/sys/fs/cgroup/memory/docker/abc"), group1("/sys/fs/cgroup/memory/docker"),
        group1("/sys/fs/cgroup/memory"),
      ])
  }

  @Test("Both versions at once, and lines that are neither")
  func hybrid() {
    #expect(
      MemoryGuard.controlGroups("4:memory:/x\n0::/y\n") == [
        group1("/sys/fs/cgroup/memory/x"), group1("/sys/fs/cgroup/memory"),
        group2("/sys/fs/cgroup/y"), group2("/sys/fs/cgroup"),
      ])
    #expect(MemoryGuard.controlGroups("nonsense\n1:memory\n") == [])
    #expect(MemoryGuard.controlGroups(nil) == [])
  }

  @Test("What a limit leaves: nothing below zero, nothing to say without a limit")
  func left() {
    #expect(MemoryGuard.left(limit: "1000\n", used: "400\n") == 600)
    #expect(MemoryGuard.left(limit: "1000\n", used: "1400\n") == 0)
    #expect(MemoryGuard.left(limit: "0\n", used: "0\n") == 0)
    #expect(MemoryGuard.left(limit: "1000\n", used: nil) == 1_000)
    #expect(MemoryGuard.left(limit: "max\n", used: "400\n") == nil)
    #expect(MemoryGuard.left(limit: nil, used: "400\n") == nil)
    // Version 1 writes «no limit» as the largest number of pages.
    #expect(
      MemoryGuard.left(limit: "9223372036854771712\n", used: "4096\n") == 9_223_372_036_854_767_616)
  }

  @Test("Three quarters are allowed, and not a byte more")
  func threeQuarters() {
    let memory = MemoryGuard(availableByteCount: 4_000)
    #expect(memory.allows(byteCount: 3_000))
    #expect(!memory.allows(byteCount: 3_001))
    #expect(!MemoryGuard(availableByteCount: 0).allows(byteCount: 1))
    #expect(MemoryGuard(availableByteCount: .max).allows(byteCount: 4 << 40))
  }

  @Test("This machine has a figure, and no more than its memory")
  func current() throws {
    let available = MemoryGuard.current().availableByteCount
    #expect(available > 0 && available <= Int(ProcessInfo.processInfo.physicalMemory))
  }
}

@Suite("Argon2id")
struct Argon2idTests {
  private static let password: [UInt8] = [1, 2, 3]
  private static let salt = [UInt8](repeating: 2, count: 16)

  private func derive(
    _ parameters: Argon2idParameters, salt: [UInt8] = salt, count: Int = 32,
    memory: MemoryGuard = .current()
  ) -> (error: Argon2idError?, output: [UInt8]) {
    var output = [UInt8](repeating: untouched, count: count)
    do {
      try write(to: &output) { output throws(Argon2idError) in
        try Argon2id.derive(
          password: Self.password.span.bytes, salt: salt.span.bytes, parameters: parameters,
          memory: memory, into: &output)
      }
      return (nil, output)
    } catch {
      return (error, output)
    }
  }

  @Test("More than three quarters of the memory is refused before anything is allocated")
  func notEnoughMemory() throws {
    let fourGiB = 4 << 30
    let (peak, memory) = (try peakByteCount(), MemoryGuard(availableByteCount: fourGiB))
    let (error, output) = derive(
      try Argon2idParameters(memoryKiB: fourGiB >> 10, passes: 1, lanes: 1), memory: memory)
    #expect(error == .notEnoughMemory(neededByteCount: fourGiB, availableByteCount: fourGiB))
    #expect(output.allSatisfy { $0 == untouched })
    // Nothing else in these tests comes near 4 GiB, and reserved address space counts as well.
    #expect(try peakByteCount() - peak < fourGiB)
  }

  @Test("The same costs pass when three quarters of the memory suffice")
  func enoughMemory() throws {
    let parameters = try Argon2idParameters(memoryKiB: 768, passes: 1, lanes: 1)
    #expect(derive(parameters, memory: MemoryGuard(availableByteCount: 1 << 20)).error == nil)
    #expect(derive(parameters, memory: MemoryGuard(availableByteCount: (1 << 20) - 4)).error != nil)
  }

  @Test("The recommended costs are the second of RFC 9106, section 4")
  func recommended() {
    let recommended = Argon2idParameters.recommended
    #expect(recommended.memoryKiB == 65_536 && recommended.passes == 3 && recommended.lanes == 4)
  }

  @Test(
    "Costs outside the bounds are refused",
    arguments: [
      (0, 1, 1), (7, 1, 1), (31, 1, 4), (.max, 1, 1), ((4 << 20) + 1, 1, 1), (-8, 1, 1),
      (64, 0, 1), (64, 65, 1), (64, -1, 1), (64, .max, 1),
      (64, 1, 0), (1 << 20, 1, 65), (64, 1, -1), (64, 1, .max),
    ])
  func bounds(_ memoryKiB: Int, _ passes: Int, _ lanes: Int) {
    #expect(throws: Argon2idError.parameters) {
      try Argon2idParameters(memoryKiB: memoryKiB, passes: passes, lanes: lanes)
    }
  }

  @Test(
    "Costs at the bounds are taken",
    arguments: [
      (8, 1, 1), (32, 1, 4), (512, 1, 64), (4 << 20, 64, 64),
    ])
  func atTheBounds(_ memoryKiB: Int, _ passes: Int, _ lanes: Int) throws {
    let parameters = try Argon2idParameters(memoryKiB: memoryKiB, passes: passes, lanes: lanes)
    #expect(parameters.memoryKiB == memoryKiB)
    #expect(parameters.passes == passes && parameters.lanes == lanes)
  }

  @Test("A salt under 8 bytes or an output under 4 is refused")
  func lengths() throws {
    let small = try Argon2idParameters(memoryKiB: 8, passes: 1, lanes: 1)
    #expect(derive(small, salt: [UInt8](repeating: 0, count: 7)).error == .parameters)
    #expect(derive(small, salt: [UInt8](repeating: 0, count: 8)).error == nil)
    #expect(derive(small, count: 3).error == .parameters)
    #expect(derive(small, count: 4).error == nil)
  }

  /// The most address space this process has had.
  private func peakByteCount() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmPeak:") })
    return try #require(
      line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
      << 10
  }

  @Test("File pages that the kernel can take back count as available")
  func fileCache() {
    let statistics = "anon 10\nfile 900\ninactive_file 800\nactive_file 100\n"
    #expect(MemoryGuard.left(limit: "1000", used: "990") == 10)
    #expect(MemoryGuard.left(limit: "1000", used: "990", statistics: statistics) == 810)
    #expect(MemoryGuard.left(limit: "1000", used: "100", statistics: statistics) == 1000)
  }
}
