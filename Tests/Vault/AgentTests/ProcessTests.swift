// SPDX-License-Identifier: Apache-2.0
//
// The agent as a process of its own: what it has, what others can see of it, and what is left in its memory.
// The messages come from a client that was written from the specification alone.

import Foundation
import Testing

@testable import Agent

private let isRoot = geteuid() == 0
private let onlyRoot: Comment = "only root can look into the agent's process; not tested here"

@Suite("The agent's process", .enabled(if: AgentProcess.isUsable, "needs python3 and setpriv"))
struct ProcessTests {
  private func someKeys() -> [UInt8] { (0..<64).map { _ in UInt8.random(in: .min ... .max) } }
  private func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }

  @Test("A client written from the specification gets along with it")
  func specification() throws {
    let agent = try AgentProcess()
    let keys = someKeys()
    let answers = try agent.ask([
      "get 3", "give \(hex(keys))", "get 3", "get 2", "status", "lock", "get 3", "status",
    ])
    #expect(
      answers == [
        "refused 4", "done", "3 \(hex(keys))", "2 \(hex(keys[32...]))", "\(agent.processID)",
        "state 2 memory 1", "done", "2 \(hex(keys[32...]))", "\(agent.processID)", "state 3 memory 1",
      ] || answers.contains("state 2 memory 2"))
    #expect(try agent.ask(["logout"]) == ["done"])
    let view = ProcessView(processID: agent.processID)
    // Gone, or a zombie as long as its shell does not wait for it.
    try eventually { (try? view.status("State").hasPrefix("Z")) ?? true }
  }

  @Test("It cannot be dumped, gains no privileges, and has / as its folder")
  func hardened() throws {
    let agent = try AgentProcess()
    let view = ProcessView(processID: agent.processID)
    #expect(try view.status("NoNewPrivs") == "1")
    #expect(try view.status("Umask") == "0077")
    #expect(try view.status("Threads") == "1")
    let core = try view.text("limits").split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    #expect(core?.split(separator: " ").filter { $0 == "0" }.count == 2)
    // What cannot be dumped belongs to root under /proc.
    var status = stat()
    #expect(stat("/proc/\(agent.processID)/mem", &status) == 0 && status.st_uid == 0)
  }

  @Test("It has no descriptors but its own", .enabled(if: isRoot, onlyRoot))
  func descriptors() throws {
    let agent = try AgentProcess()
    let view = ProcessView(processID: agent.processID)
    // The shell that started it has 7 open.
    let own = try view.descriptors().filter { $0.key > 2 }.values
    for name in own {
      let isOwn =
        name.hasPrefix("socket:") || name.hasSuffix("/agent.lock") || name == "anon_inode:[signalfd]"
        || name == "anon_inode:[timerfd]"
      #expect(isOwn, "\(name)")
    }
    #expect(own.filter { $0.hasSuffix("/agent.lock") }.count == 1)
    let folder = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(agent.processID)/cwd")
    #expect(folder == "/")
  }

  @Test("Another process of the same user cannot read its memory")
  func unreadable() throws {
    let agent = try AgentProcess()
    _ = try agent.ask(["give \(hex(someKeys()))"])
    let script = """
      import ctypes, os, subprocess, sys
      libc = ctypes.CDLL(None, use_errno=True)
      class V(ctypes.Structure): _fields_ = [("b", ctypes.c_void_p), ("n", ctypes.c_size_t)]
      def probe(pid, address):
          try: os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY)); a = "opened"
          except OSError as e: a = e.strerror
          try: open(f"/proc/{pid}/maps").read(); m = "read"
          except OSError as e: m = e.strerror
          buf = ctypes.create_string_buffer(16)
          l, r = V(ctypes.addressof(buf), 16), V(address, 16)
          n = libc.process_vm_readv(pid, ctypes.byref(l), 1, ctypes.byref(r), 1, 0)
          v = "read" if n == 16 else os.strerror(ctypes.get_errno())
          t = libc.ptrace(16, pid, 0, 0)
          return a, m, v, ("attached" if t == 0 else os.strerror(ctypes.get_errno()))
      child = subprocess.Popen([sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"], stdout=subprocess.PIPE)
      child.stdout.readline()
      address = int(open(f"/proc/{child.pid}/maps").readline().split("-")[0], 16)
      print(*probe(child.pid, address), sep=",")
      print(*probe(int(sys.argv[1]), address), sep=",")
      child.kill()
      """
    let answers = try AgentProcess.run(
      AgentProcess.asOrdinaryUser(["/usr/bin/python3", "-c", script, "\(agent.processID)"]))
    let lines = answers.split(separator: "\n")
    try #require(lines.count == 2)
    // The same probe reads a process that did not protect itself.
    #expect(lines[0].hasPrefix("opened,read,read,"))
    #expect(
      lines[1] == "Permission denied,Permission denied,Operation not permitted,Operation not permitted")
  }

  @Test(
    "Another user is not answered, not even root", .enabled(if: isRoot, "needs two users; not tested here"))
  func otherUser() throws {
    let agent = try AgentProcess()
    let keys = someKeys()
    #expect(try agent.ask(["give \(hex(keys))"]) == ["done"])
    for request in ["status", "get 3", "lock", "logout", "give \(hex(someKeys()))"] {
      let answer = try agent.ask([request], asRoot: true)
      #expect(answer == ["closed"] || answer.isEmpty, "\(request)")
    }
    #expect(try agent.ask(["get 3"]) == ["3 \(hex(keys))"])
    // And a client does not talk to the agent of another user.
    #expect(throws: AgentError.noRuntimeDirectory) { try agent.folder.place() }
  }

  @Test(
    "Keys are nowhere in its memory but in their page, and after lock nowhere",
    .enabled(if: isRoot, onlyRoot), arguments: [false, true])
  func memory(ordinary: Bool) throws {
    let agent = try AgentProcess(ordinary ? ["--ordinary-memory"] : [])
    let view = ProcessView(processID: agent.processID)
    let former = someKeys()
    let keys = someKeys()
    _ = try agent.ask(["give \(hex(former))", "get 3"])
    let answers = try agent.ask(
      ["give \(hex(keys))", "status"] + Array(repeating: "get 3", count: 50)
        + Array(repeating: "get 2", count: 50))
    let isSecret = answers.contains("state 2 memory 1")
    #expect(isSecret || answers.contains("state 2 memory 2"))
    if ordinary { #expect(!isSecret) }
    // Both halves of a key in its page, if that can be read at all.
    let expected = isSecret ? 0 : 2
    let whenUnlocked = Array(keys.prefix(32))
    let afterFirstUnlock = Array(keys.suffix(32))
    let before = try view.search(whenUnlocked)
    #expect(before.readByteCount > 1_000_000)
    #expect(before.places.count == expected, "\(before.places)")
    #expect(try view.search(afterFirstUnlock).places.count == expected)
    #expect(try view.search(Array(former.prefix(32))).places.isEmpty)
    #expect(try view.search(Array(former.suffix(32))).places.isEmpty)

    _ = try agent.ask(["lock"])
    #expect(try view.search(whenUnlocked).places.isEmpty)
    #expect(try view.search(afterFirstUnlock).places.count == expected)
    #expect(try agent.ask(["get 3"]) == ["2 \(hex(afterFirstUnlock))"])
    #expect(try view.search(whenUnlocked).places.isEmpty)
  }

  @Test(
    "The passcode of the grace period is in its page alone, and after its end, lock or 0 seconds nowhere",
    .enabled(if: isRoot, onlyRoot),
    arguments: ["lock", "keep 0", "keep another", "end", "give", "its own again"])
  func passcode(end: String) throws {
    let agent = try AgentProcess(["--ordinary-memory"])
    let view = ProcessView(processID: agent.processID)
    let passcode = Array(someKeys().prefix(32))
    let other = hex(someKeys().prefix(32))
    let seconds = end == "end" ? 2 : 3600
    var requests = ["give \(hex(someKeys()))", "keep \(seconds) \(hex(passcode))"]
    // Two seconds may be over before it is asked for.
    if end != "end" { requests.append("get 4") }
    let answers = try agent.ask(requests + ["get 3"])
    #expect(answers.prefix(2) == ["done", "done"])
    if end != "end" {
      #expect(answers[2] == "4 \(hex(passcode))")
      let found = try view.search(passcode)
      #expect(found.readByteCount > 1_000_000 && found.places.count == 2, "\(found.places)")
    }
    switch end {
    case "lock": #expect(try agent.ask(["lock", "get 4"]) == ["done", "refused 4"])
    case "keep 0": #expect(try agent.ask(["keep 0 \(other)", "get 4"]) == ["done", "refused 4"])
    case "keep another": #expect(try agent.ask(["keep 60 \(other)", "get 4"]) == ["done", "4 \(other)"])
    case "give": #expect(try agent.ask(["give \(hex(someKeys()))", "get 4"]) == ["done", "refused 4"])
    // Nobody asks: the timer erases.
    case "end": try eventually { try view.search(passcode).places.isEmpty }
    default: #expect(try agent.ask(["keep 0 \(hex(passcode))"]) == ["done"])
    }
    #expect(try view.search(passcode).places.isEmpty)
  }

  @Test("Keys in a message that is refused are erased too", .enabled(if: isRoot, onlyRoot))
  func refused() throws {
    let agent = try AgentProcess(["--ordinary-memory"])
    let view = ProcessView(processID: agent.processID)
    let keys = someKeys()
    // Half a key too many.
    #expect(try agent.ask(["give \(hex(keys + keys.prefix(16)))"]) == ["closed"])
    #expect(try view.search(Array(keys.prefix(32))).places.isEmpty)
    #expect(try view.search(Array(keys.suffix(32))).places.isEmpty)
  }

  @Test("Locking by the idle limit leaves nothing in memory either", .enabled(if: isRoot, onlyRoot))
  func idle() throws {
    let agent = try AgentProcess(["--ordinary-memory", "--idle-limit", "1"])
    let view = ProcessView(processID: agent.processID)
    let keys = someKeys()
    #expect(try agent.ask(["give \(hex(keys))"]) == ["done"])
    // Nobody asks: the timer erases.
    try eventually { try view.search(Array(keys.prefix(32))).places.isEmpty }
    #expect(try agent.ask(["get 3"]) == ["2 \(hex(keys[32...]))"])
  }

  @Test("Thousands of requests leave no descriptors and no memory behind")
  func noLeak() throws {
    let agent = try AgentProcess()
    let view = ProcessView(processID: agent.processID)
    let rounds = ["give \(hex(someKeys()))"] + Array(repeating: "get 3", count: 1_000)
    // Once to warm up.
    for _ in 1...2 { #expect(try agent.ask(rounds).count == 1_001) }
    let memory = try #require(Int(try view.status("VmRSS").split(separator: " ")[0]))
    let descriptors = isRoot ? try view.descriptors().count : 0
    for _ in 1...5 { _ = try agent.ask(rounds) }
    for _ in 1...20 { _ = try agent.ask(["status"]) }
    let grown = try #require(Int(try view.status("VmRSS").split(separator: " ")[0])) - memory
    #expect(grown <= 256, "\(grown) KiB more")
    if isRoot {
      // The last connection may not have been closed yet.
      try eventually { try view.descriptors().count <= descriptors }
    }
  }
}
