// SPDX-License-Identifier: Apache-2.0
//
// What tests of other modules search their own memory with: it finds a copy wherever a process can have one.

import Foundation
import Glibc
import MemorySearch
import Testing

/// Not zero at first, so that it is part of the program's file until it is written to.
private nonisolated(unsafe) var ofTheFile: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
  1, 2, 3, 4, 5, 6
)
private nonisolated(unsafe) var zeroAtFirst: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
  0, 0, 0, 0, 0, 0
)
private nonisolated(unsafe) var string = ""

@Suite("The search of a process's own memory")
struct MemorySearchTests {
  private enum Place: CaseIterable {
    case heap, freedHeap, finishedThread, string, global, globalOfTheFile, mapping, untouchedNeighbours
    case sharedMapping, mappedFile, changedPageOfAFile
  }

  private static let byteCount = 48
  private static let page = Int(getpagesize())

  @Test(
    "It finds a copy on the heap, on the stack of a thread that has ended, in a string, a global and a mapping"
  )
  func places() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        for place in Place.allCases {
          let needle = try MemorySearchTests().leave(place)
          for half in ["first half", "second half"] {
            #expect(
              try ProcessMemory.places(of: needle).contains { $0.hasPrefix(half) }, "\(half), \(place)")
          }
        }
      }
    }
  }

  @Test("It finds nothing of what is gone, and not itself, however often it looks")
  func nothing() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let tests = MemorySearchTests()
        let secret = try tests.secret()
        let needle = Needle(RawSpan(_unsafeStart: secret, byteCount: MemorySearchTests.byteCount))
        #expect(try ProcessMemory.places(of: needle).count == 2)
        tests.forget(secret)
        for _ in 1...3 { try ProcessMemory.expectGone(needle) }
      }
    }
  }

  @Test("It finds a half alone, says which, and misses none at an edge of what it reads at once")
  func halves() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let (tests, half) = (MemorySearchTests(), MemorySearchTests.byteCount / 2)
        let secret = try tests.secret()
        let needle = Needle(RawSpan(_unsafeStart: secret, byteCount: 2 * half))
        explicit_bzero(secret, half)
        let second = try ProcessMemory.places(of: needle)
        #expect(second.count == 1 && second[0].hasPrefix("second half"), "\(second)")
        // One copy of a half after the other, so that every edge has one.
        let byteCount = 3 << 20
        let copies = try tests.pages(byteCount)
        for copy in 0..<byteCount / half { memcpy(copies + copy * half, secret + half, half) }
        explicit_bzero(secret, 2 * half)
        #expect(try ProcessMemory.places(of: needle).count == byteCount / half)
        explicit_bzero(copies, byteCount)
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  // MARK: What is left

  /// Leaves a copy in one place, and none elsewhere.
  @inline(never)
  private func leave(_ place: Place) throws -> Needle {
    let secret = try secret()
    defer { forget(secret) }
    let count = Self.byteCount
    switch place {
    case .heap, .freedHeap:
      let copy = UnsafeMutableRawPointer.allocate(byteCount: 512, alignment: 16)
      memcpy(copy + 256, secret, count)
      if place == .freedHeap { copy.deallocate() }
    case .finishedThread:
      var thread = pthread_t()
      pthread_create(
        &thread, nil,
        { secret in
          MemorySearchTests.leaveOnStack(secret!, deeper: 50)
          return nil
        }, secret)
      pthread_join(thread, nil)
    case .string:
      string = String(unsafeUninitializedCapacity: count) {
        memcpy($0.baseAddress!, secret, count)
        return count
      }
    case .global: withUnsafeMutableBytes(of: &zeroAtFirst) { _ = memcpy($0.baseAddress!, secret, count) }
    case .globalOfTheFile:
      withUnsafeMutableBytes(of: &ofTheFile) { _ = memcpy($0.baseAddress!, secret, count) }
    case .mapping: memcpy(try pages(Self.page), secret, count)
    // In pages of which the kernel has no others.
    case .untouchedNeighbours: memcpy(try pages(64 << 20) + (40 << 20) - count / 3, secret, count)
    case .sharedMapping: memcpy(try pages(Self.page, MAP_SHARED | MAP_ANONYMOUS), secret, count)
    case .mappedFile, .changedPageOfAFile:
      try leaveInFile(secret, isWritten: place == .mappedFile)
    }
    return Needle(RawSpan(_unsafeStart: secret, byteCount: count))
  }

  /// Far enough down for the end of the thread, which uses the same stack.
  @inline(never)
  private static func leaveOnStack(_ secret: UnsafeRawPointer, deeper count: Int) {
    if count > 0 { return leaveOnStack(secret, deeper: count - 1) }
    var copy: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &copy) { _ = memcpy($0.baseAddress!, secret, $0.count) }
  }

  /// Maps a file that has the secret, or one that has none, whose page is written to and read-only afterwards.
  private func leaveInFile(_ secret: UnsafeMutableRawPointer, isWritten: Bool) throws {
    let path = NSTemporaryDirectory() + "search-\(UUID().uuidString)"
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    unlink(path)
    defer { close(file) }
    try #require(file >= 0 && ftruncate(file, off_t(Self.page)) == 0)
    if isWritten { try #require(pwrite(file, secret, Self.byteCount, 100) == Self.byteCount) }
    let pages = try pages(Self.page, MAP_PRIVATE, file)
    if !isWritten { memcpy(pages + 100, secret, Self.byteCount) }
    try #require(mprotect(pages, Self.page, PROT_READ) == 0)
  }

  /// Letters, so that they can be a string, in pages of their own.
  private func secret() throws -> UnsafeMutableRawPointer {
    let secret = try pages(Self.page)
    for index in 0..<Self.byteCount {
      secret.storeBytes(of: UInt8.random(in: 0x41...0x5A), toByteOffset: index, as: UInt8.self)
    }
    return secret
  }

  private func forget(_ secret: UnsafeMutableRawPointer) {
    explicit_bzero(secret, Self.page)
    munmap(secret, Self.page)
  }

  private func pages(
    _ byteCount: Int, _ flags: Int32 = MAP_PRIVATE | MAP_ANONYMOUS, _ file: Int32 = -1
  ) throws -> UnsafeMutableRawPointer {
    let pages = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, file, 0)
    return try #require(pages == MAP_FAILED ? nil : pages)
  }
}
