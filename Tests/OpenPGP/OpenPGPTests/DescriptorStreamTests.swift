// SPDX-License-Identifier: Apache-2.0

import Glibc
import Secrets
import Testing

@testable import OpenPGP

@Suite("Streams on descriptors")
struct DescriptorStreamTests {
  private static let lengths = [0, 1, 65_535, 65_536, 65_537, 131_072, 900_000]

  @Test("What is written is read, by pieces of every size", arguments: lengths)
  func writing(_ length: Int) throws {
    for piece in [1_000, 65_536, 70_000, 1_000_000] {
      let file = TestFile([])
      let sink = FileDescriptorSink(descriptor: file.descriptor)
      let data = patterned(length)
      for start in stride(from: 0, to: length, by: piece) {
        try sink.write(Array(data[start..<min(start + piece, length)]))
      }
      try sink.flush()
      lseek(file.descriptor, 0, SEEK_SET)
      let output = ArraySink()
      try output.write(allOf: FileDescriptorSource(descriptor: file.descriptor))
      #expect(output.bytes == data)
    }
  }

  @Test("Read ahead of what is asked for", arguments: lengths)
  func readingAhead(_ length: Int) throws {
    let pipe = TestPipe(patterned(length))
    let output = ArraySink()
    try output.write(allOf: ReadAheadSource(FileDescriptorSource(descriptor: pipe.reading)))
    #expect(output.bytes == patterned(length))
  }

  @Test("A failure comes at its place, behind what could be read, and stays")
  func failure() throws {
    final class Failing: ByteSource {
      private let good = MemorySource(patterned(1_200_000))

      func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
        if try good.isAtEnd() { throw .inputOutput(errno: EIO) }
        return try good.withNext(body)
      }

      func consume(_ count: Int) { good.consume(count) }
    }
    let source = ReadAheadSource(Failing())
    let output = ArraySink()
    for _ in 0..<2 {
      #expect(throws: OpenPGPError.inputOutput(errno: EIO)) { try output.write(allOf: source) }
      #expect(output.bytes == patterned(4 << 18))
    }
  }

  @Test("A stream that is given up in the middle ends its thread")
  func abandoned() throws {
    for _ in 0..<20 {
      let source = ReadAheadSource(MemorySource(patterned(5_000_000)))
      #expect(try source.readByte() == patterned(1)[0])
    }
  }

  @Test("A file appears under its name only when it is complete")
  func atomicFile() throws {
    let folder = "/tmp/coffer-openpgp-atomic-\(getpid())"
    #expect(mkdir(folder, 0o700) == 0)
    defer { rmdir(folder) }
    let path = folder + "/out"
    do {
      let sink = try AtomicFileSink(path: path)
      try sink.write(patterned(200_000))
      #expect(access(path, F_OK) != 0)
      try sink.commit()
      #expect(access(path, F_OK) == 0)
    }
    #expect(throws: OpenPGPError.inputOutput(errno: EEXIST)) { try AtomicFileSink(path: path) }
    let file = open(path, O_RDONLY)
    let output = ArraySink()
    try output.write(allOf: FileDescriptorSource(descriptor: file))
    close(file)
    #expect(output.bytes == patterned(200_000))
    unlink(path)
    do {
      let sink = try AtomicFileSink(path: path)
      try sink.write(patterned(10))
    }
    do {
      // Somebody else was quicker.
      let sink = try AtomicFileSink(path: path)
      close(open(path, O_CREAT | O_WRONLY, 0o600))
      #expect(throws: OpenPGPError.inputOutput(errno: EEXIST)) { try sink.commit() }
    }
    unlink(path)
    // Nothing is left beside it: an empty folder can be removed.
    #expect(rmdir(folder) == 0)
  }

  @Test("A file has no name while it is written, so that nothing of it stays behind a process that is killed")
  func unnamedFile() throws {
    // Shared memory is always a file system that knows files without names.
    let folder = "/dev/shm/coffer-openpgp-unnamed-\(getpid())"
    #expect(mkdir(folder, 0o700) == 0)
    let path = folder + "/out"
    do {
      let sink = try AtomicFileSink(path: path)
      try sink.write(patterned(200_000))
      try sink.sync()
      // An empty folder can be removed; without it the file finds no place.
      #expect(rmdir(folder) == 0)
      #expect(throws: OpenPGPError.inputOutput(errno: ENOENT)) { try sink.commit() }
    }
    #expect(mkdir(folder, 0o700) == 0)
    do {
      let sink = try AtomicFileSink(path: path)
      try sink.write(patterned(10))
      try sink.sync()
      #expect(access(path, F_OK) != 0)
      try sink.commit()
      #expect(access(path, F_OK) == 0)
    }
    #expect(unlink(path) == 0)
    #expect(rmdir(folder) == 0)
  }
}
