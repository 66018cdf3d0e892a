// SPDX-License-Identifier: Apache-2.0

import Foundation
import TemporaryHomes
import Testing

@testable import Correspondence

@Suite("Archives: reading")
struct TarReaderTests {
  let home: TemporaryHome

  init() throws {
    home = try TemporaryHome()
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
  }

  private func read(_ bytes: [UInt8]) throws(ArchiveProblem) -> [ArchiveEntry] {
    let path = home.path + "/\(UUID().uuidString)"
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
    let file = open(path, O_RDONLY)
    defer { close(file) }
    return try TarReader.entries(of: file, byteCount: bytes.count)
  }

  private func problem(_ bytes: [UInt8]) -> ArchiveProblem? {
    do throws(ArchiveProblem) {
      _ = try read(bytes)
      return nil
    } catch { return error }
  }

  private func names(_ entries: [ArchiveEntry]) -> [String] {
    entries.map { $0.path.joined(separator: "/") + ($0.isFolder ? "/" : "") }
  }

  /// What a shell script prints that runs in the folder of the test.
  private func shell(_ script: String) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.currentDirectoryURL = URL(filePath: home.path)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(output)
  }

  /// An archive made by Python: `add(name, type, …)` for each entry.
  private func python(_ body: String, format: String = "PAX") throws -> [UInt8] {
    try shell(
      """
      python3 - <<'END'
      import io, sys, tarfile
      archive = tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.\(format)_FORMAT)
      def add(name, kind=tarfile.REGTYPE, content=b"x", link="", **more):
          info = tarfile.TarInfo(name)
          info.type, info.linkname = kind, link
          info.size = len(content) if kind == tarfile.REGTYPE else 0
          for key, value in more.items(): setattr(info, key, value)
          archive.addfile(info, io.BytesIO(content))
      \(body)
      archive.close()
      END
      """)
  }

  /// The archive with its first header changed, and its checksum made right again.
  private func changed(_ bytes: [UInt8], _ change: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes = bytes
    change(&bytes)
    for index in 148..<156 { bytes[index] = UInt8(ascii: " ") }
    let sum = String(bytes[0..<512].reduce(0) { $0 + Int($1) }, radix: 8)
    let digits = Array((String(repeating: "0", count: 6 - sum.count) + sum).utf8) + [0, UInt8(ascii: " ")]
    bytes.replaceSubrange(148..<156, with: digits)
    return bytes
  }

  // MARK: Archives of others

  @Test("Archives of GNU tar are read in each of its formats", arguments: ["gnu", "pax", "ustar", "posix"])
  func gnuTar(format: String) throws {
    let long = String(repeating: "long", count: 20)
    let script = """
      mkdir -p d/inner/\(long) && printf hello > d/inner/\(long)/\(long).txt && printf '' > d/empty && printf two > d/.b
      tar --format=\(format) --sort=name -c d
      """
    let bytes = try shell(script)
    let entries = try read(bytes)
    #expect(
      names(entries) == [
        "d/", "d/.b", "d/empty", "d/inner/", "d/inner/\(long)/", "d/inner/\(long)/\(long).txt",
      ])
    let file = try #require(entries.last)
    #expect(Array(bytes[file.offset..<file.offset + file.byteCount]) == Array("hello".utf8))
  }

  @Test("Names that are too long for a header are read, and so is what was packed as '.'")
  func longNames() throws {
    let long = String(repeating: "very-long-", count: 20)
    for format in ["gnu", "pax"] {
      let bytes = try shell(
        "mkdir -p p\(format) && printf x > p\(format)/\(long) && tar --format=\(format) -C p\(format) -c .")
      #expect(try names(read(bytes)) == [long])
    }
  }

  @Test("Archives of Python are read in each of its formats", arguments: ["PAX", "GNU", "USTAR"])
  func pythonTar(format: String) throws {
    let bytes = try python(
      "add('a/b/file', content=b'1234'); add('a', tarfile.DIRTYPE); add('\u{fc}ber \u{1f469}\u{200d}\u{1f680}')",
      format: format)
    let entries = try read(bytes)
    #expect(names(entries) == ["a/", "a/b/", "a/b/file", "\u{fc}ber \u{1f469}\u{200d}\u{1f680}"])
    #expect(entries[2].byteCount == 4)
  }

  @Test("An archive of our own comes back as it went in")
  func roundTrip() throws {
    _ = try shell("mkdir -p photos/inner && printf one > photos/b && head -c 1300 /dev/zero > photos/inner/a")
    let source = try TarSource(paths: [home.path + "/photos"])
    var bytes: [UInt8] = []
    while bytes.count < source.byteCount {
      let count = try source.withNext { next in
        next.withUnsafeBytes { bytes += Array($0) }
        return next.byteCount
      }
      source.consume(count)
    }
    let entries = try read(bytes)
    #expect(names(entries) == ["photos/", "photos/b", "photos/inner/", "photos/inner/a"])
    #expect(entries.map(\.byteCount) == [0, 3, 0, 1300])
  }

  // MARK: Hostile ones

  @Test(
    "Names that lead out, or that cannot be shown, refuse the archive",
    arguments: [
      "../x", "/etc/x", "a/../x", "a/./x", "a//x", "..", "a/..", "./../x", "a\\nx", "a\\x1b[2J", "a\\u202ex",
      "a\\u2066x",
      "a\\u2028x", "x/", "\\x7fx",
    ])
  func unsafeNames(name: String) throws {
    let bytes = try python("add('ok'); add('name'.replace('name', '\(name)'))")
    #expect(problem(bytes) == .unsafeName(entry: 2), "\(name)")
  }

  @Test("Links, devices and pipes refuse the archive, also those through which a file would be written")
  func specialEntries() throws {
    for kind in ["SYM", "LNK"] {
      for target in ["ok", "/etc", "../.."] {
        let bytes = try python("add('ok'); add('l', tarfile.\(kind)TYPE, link='\(target)'); add('l/file')")
        #expect(problem(bytes) == .link(entry: 2))
      }
    }
    for kind in ["CHR", "BLK", "FIFO"] {
      #expect(problem(try python("add('ok'); add('d', tarfile.\(kind)TYPE)")) == .device(entry: 2))
    }
    #expect(problem(try python("add('s', b'S')")) == .unsupported(entry: 1))
    let sparse = try shell("truncate -s 1M sparse; tar --sparse --format=pax -c sparse")
    #expect(problem(sparse) == .unsupported(entry: 1))
    let oldSparse = try shell("truncate -s 1M sparse; tar --sparse --format=gnu -c sparse")
    #expect(problem(oldSparse) == .unsupported(entry: 1))
  }

  @Test("What is said of an entry and does not fit its kind refuses the archive")
  func foreignExtensions() throws {
    let folder = try python("add('d', tarfile.DIRTYPE, pax_headers={'size': '512'}); add('a')")
    #expect(problem(folder) == .damaged(entry: 1))
    let file = try python("add('a', pax_headers={'linkpath': '/etc/passwd'})")
    #expect(problem(file) == .link(entry: 1))
  }

  @Test(
    "Two entries of one name refuse the archive, whatever the letters are, and so does a file in a file",
    arguments: [
      "add('a'); add('a')", "add('a'); add('A')", "add('a'); add('./a')", "add('\u{e9}'); add('e\u{301}')",
      "add('d', tarfile.DIRTYPE); add('d', tarfile.DIRTYPE)", "add('D/a'); add('d/b')",
      "add('a'); add('a/b')", "add('straße'); add('STRASSE')", "add('ﬁle'); add('File')",
      "add('d/ſ'); add('d/S')", "add('a\u{200B}'); add('a')",
      "add('a/b'); add('a')", "add('a'); add('a', tarfile.DIRTYPE)",
    ])
  func duplicates(body: String) throws {
    #expect(problem(try python(body)) == .duplicateName(entry: 2))
  }

  @Test("Depth and sizes have limits, and a size that is not there is a cut")
  func limits() throws {
    let deep = (1...31).map { "d\($0)" }.joined(separator: "/")
    #expect(try read(python("add('\(deep)/f')")).count == 32)
    #expect(problem(try python("add('\(deep)/e/f')")) == .tooDeep(entry: 1))
    #expect(problem(try python("add('\(String(repeating: "n", count: 256))')")) == .unsafeName(entry: 1))
    let one = try python("add('a')")
    let huge = changed(one) { $0.replaceSubrange(124..<136, with: Array("77777777777\u{0}".utf8)) }
    #expect(problem(huge) == .cutOff)
    let largest = changed(one) { bytes in
      bytes.replaceSubrange(124..<136, with: [0x80, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
    }
    #expect(problem(largest) == .damaged(entry: 1) || problem(largest) == .notAnArchive)
    let negative = changed(one) { $0.replaceSubrange(124..<136, with: [UInt8](repeating: 0xFF, count: 12)) }
    #expect(problem(negative) == .notAnArchive)
    let pax = try python("add('a', pax_headers={'size': '99999999999999999'})")
    #expect(problem(pax) == .cutOff)
  }

  @Test("An archive that was cut anywhere, or has something after its end, is refused")
  func cuts() throws {
    let bytes = try python("add('a', content=b'x' * 600); add('b')")
    #expect(try read(bytes).count == 2)
    let end = try #require(bytes.lastIndex { $0 != 0 })
    for count in stride(from: 1, to: end, by: 97) { #expect(problem(Array(bytes.prefix(count))) != nil) }
    var after = bytes
    after[bytes.count - 1] = 1
    #expect(problem(after) == .damaged(entry: 2))
    #expect(problem(bytes + bytes) == .damaged(entry: 2))
  }

  @Test("A changed octet of a header is found")
  func checksum() throws {
    let bytes = try python("add('a'); add('b')")
    for index in [0, 100, 124, 150, 156, 257, 345] {
      var bytes = bytes
      bytes[1024 + index] ^= 1
      #expect(problem(bytes) == .damaged(entry: 2), "\(index)")
    }
  }

  @Test("Extended headers that programs could read differently are refused")
  func extendedHeaders() throws {
    for records in ["{'path': '../x'}", "{'path': '/x'}", "{'path': ''}"] {
      // Python writes its own path record for these.
      let bytes = try python("add('a', pax_headers=\(records))")
      #expect(problem(bytes) == .unsafeName(entry: 1), "\(records)")
    }
    let charset = try python("add('a', pax_headers={'hdrcharset': 'BINARY'})")
    #expect(problem(charset) == .unsupported(entry: 1))
    let comment = try python("archive.pax_headers = {'comment': 'c'}; add('a')")
    #expect(problem(comment) == nil)
  }

  @Test("What is not an archive is not taken for one")
  func otherContent() throws {
    for other in [
      [], Array("hello".utf8), [UInt8](repeating: 0, count: 10240), [UInt8](repeating: 0x41, count: 2048),
      try shell("mkdir -p z && tar -cz z"), Array("ustar".utf8) + [UInt8](repeating: 0x20, count: 1024),
    ] {
      #expect(problem(other) == .notAnArchive)
    }
  }
}
