// SPDX-License-Identifier: Apache-2.0
//
// A program for the tests of the process that decodes pictures. Started as that process it decodes;
// with other words it misbehaves as a process would that a hostile photo has taken over; and as `parent`
// it is the process that asks. Words with `try-` enter the sandbox and do what it must not allow: who
// survives ends with status 7.

import CSystem
import Glibc
import Pictures

let words = CommandLine.arguments.dropFirst()

func enterSandbox() {
  if coffer_enter_decoder_sandbox() != 0 { _exit(8) }
}

func answer(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) } }

/// The header of an answer: status, width, height, bytes of content.
func header(_ status: UInt8, _ width: UInt8, _ height: UInt8, _ count: UInt8, _ more: UInt8 = 0) -> [UInt8] {
  Array("CPA1".utf8) + [status, 0, 0, 0, width, 0, 0, 0, height, 0, 0, 0, count, 0, 0, 0, 0, 0, 0, more]
}

switch words.first {
case PictureWorker.argument: PictureWorker.run()
case CodeReader.argument: CodeReader.run()

// What finds codes, without a library, and with one that finds none.
case "no-library": CodeReader.run(library: "libnosuchthing.so.0")
case "other-library": CodeReader.run(library: "libz.so.1")

// What a process could do that was taken over.
case "trap": abort()
case "leave": _exit(0)
case "hang": while true { pause() }
case "nonsense": answer([UInt8](repeating: 0x41, count: 1000))
case "promise-everything": answer(header(0, 1, 1, 3, 0x7F))
case "wrong-size": answer(header(0, 2, 2, 3) + [1, 2, 3])
case "larger-than-asked": answer(header(0, 60, 1, 180) + [UInt8](repeating: 0, count: 180))
case "half": answer(header(0, 1, 1, 3) + [1])
case "unknown-status": answer(header(200, 0, 0, 0))
case "nothing-inside": answer(header(0, 0, 0, 0))
case "many-codes":
  answer(header(0, 0, 0, 4 * 33) + [UInt8](repeating: 0, count: 4 * 33))
case "long-code":
  answer(header(0, 0, 0, 20) + [0xB2, 0x1B, 0, 0] + [UInt8](repeating: 0x61, count: 16))
case "code-cut-off": answer(header(0, 0, 0, 5) + [2, 0, 0, 0, 0x61])
case "flood": while true { answer([UInt8](repeating: 0, count: 1 << 16)) }

// What the sandbox has to allow.
case "try-nothing":
  enterSandbox()
  _exit(0)
case "try-memory-below-limit":
  enterSandbox()
  guard let memory = malloc(512 << 20) else { _exit(7) }
  memset(memory, 1, 512 << 20)
  free(memory)
  _exit(0)

// What it has to refuse without an end.
case "try-memory-above-limit":
  enterSandbox()
  _exit(malloc(2 << 30) == nil ? 0 : 7)
case "try-other-descriptor":
  let other = dup(STDIN_FILENO)
  enterSandbox()
  var byte: UInt8 = 0
  _exit(other > 2 && read(other, &byte, 1) == -1 && errno == EBADF ? 0 : 7)

// What it has to kill for.
case "try-open":
  enterSandbox()
  _ = open("/etc/passwd", O_RDONLY)
  _exit(7)
case "try-socket":
  enterSandbox()
  _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  _exit(7)
case "try-execute":
  enterSandbox()
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
  _ = execv("/bin/true", &arguments)
  _exit(7)
case "try-spawn":
  enterSandbox()
  var process = pid_t()
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
  _ = posix_spawn(&process, "/bin/true", nil, nil, &arguments, nil)
  _exit(7)
case "try-signal":
  enterSandbox()
  _ = kill(1, 0)
  _exit(7)
case "try-pipe":
  enterSandbox()
  var ends: [Int32] = [0, 0]
  _ = pipe(&ends)
  _exit(7)
case "try-executable-memory":
  enterSandbox()
  _ = mmap(nil, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  _exit(7)
case "try-making-memory-executable":
  let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  enterSandbox()
  _ = mprotect(page, 4096, PROT_READ | PROT_EXEC)
  _exit(7)
case "try-remote-memory":
  enterSandbox()
  var byte: UInt8 = 0
  withUnsafeMutableBytes(of: &byte) { bytes in
    var here = iovec(iov_base: bytes.baseAddress, iov_len: 1)
    _ = readv(STDIN_FILENO, &here, 1)
  }
  _exit(7)

// The process that asks: undumpable as the command is, with itself as the program. Takes a photo's path and
// how often; says on standard output how many bytes the last thumbnail had.
case "parent":
  let path = words.dropFirst().first ?? ""
  let count = words.dropFirst(2).first.flatMap { Int($0) } ?? 1
  if coffer_make_undumpable() != 0 { _exit(8) }
  let file = open(path, O_RDONLY)
  var photo = [UInt8](repeating: 0, count: 64 << 20)
  let byteCount = read(file, &photo, photo.count)
  close(file)
  if byteCount <= 0 { _exit(8) }
  photo.removeLast(photo.count - byteCount)
  let worker = PictureWorker()
  let before = openDescriptors()
  var thumbnailByteCount = 0
  for round in 0..<count {
    do {
      // Every other photo breaks off in the middle.
      let part = round % 2 == 0 ? photo.count : photo.count / 2
      thumbnailByteCount = try worker.thumbnail(of: photo.span.bytes.extracting(0..<part)).count
    } catch {
      if error != .corrupt || round % 2 == 0 { _exit(9) }
    }
  }
  if openDescriptors() != before { _exit(10) }
  // No child is left, neither running nor dead.
  if waitpid(-1, nil, WNOHANG) != -1 || errno != ECHILD { _exit(11) }
  print(thumbnailByteCount)

default: _exit(6)
}

func openDescriptors() -> Int {
  (0..<1024).count { fcntl(Int32($0), F_GETFD) != -1 }
}
