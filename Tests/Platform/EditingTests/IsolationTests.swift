// SPDX-License-Identifier: Apache-2.0
//
// Where the text is while an editor has it, and where it is not.

import Foundation
import MemorySearch
import Secrets
import Testing

@testable import Editing

@Suite("Where an edited text is", .serialized)
struct IsolationTests {
  @Test("The editor can write nothing but memory, whatever it tries, and nothing is left on the disk")
  func writing() throws {
    let folder = try Edits.folderOnDisk()
    defer { try? FileManager.default.removeItem(at: folder) }
    // Somebody may have a folder of the name that the editor sees.
    let wasTaken = FileManager.default.fileExists(atPath: "/tmp/coffer")
    let mark = "coffer-\(UUID().uuidString)"
    let existing = folder.appending(path: "existing")
    try Data("old".utf8).write(to: existing)
    let places = ["$HOME", ".", "/dev/shm", "/var/tmp", "/tmp", "/run", "/"]
    let tries = places.map { "cp \"$1\" \(mark.quoted(in: $0)) && echo \($0) >> /tmp/worked" }
    let script =
      tries.joined(separator: "; ") + "; cp \"$1\" \"$HOME/existing\"; rm \"$HOME/existing\"; "
      + "mount -o remount,rw,bind / && echo remounted > $HOME/\(mark); cat /tmp/worked > \"$1\""
    #expect(try Edits.edit("secret\n", script, home: folder.path) == "/var/tmp\n/tmp\n")
    #expect(try String(contentsOf: existing, encoding: .utf8) == "old")
    for place in [folder.path, ".", "/dev/shm", "/var/tmp", "/tmp", "/run", "/"] {
      #expect(!FileManager.default.fileExists(atPath: "\(place)/\(mark)"), "\(place)")
    }
    #expect(FileManager.default.fileExists(atPath: "/tmp/coffer") == wasTaken)
  }

  @Test(
    "Of what is in /tmp the editor sees its own folder, the home and what programs need, and can write to none"
  )
  func seen() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "editing-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let names = ["bin", "desktop", "editor", "home", "other"]
    for name in names {
      try FileManager.default.createDirectory(
        at: folder.appending(path: name), withIntermediateDirectories: true)
      try Data(name.utf8).write(to: folder.appending(path: "\(name)/file"))
    }
    let program = folder.appending(path: "editor/run").path
    let script =
      "#!/bin/sh\ncd '\(folder.path)' && cat */file >> \"$1\"; ls >> \"$1\"; for name in *; do touch $name/new 2> /dev/null; done; :\n"
    try Data(script.utf8).write(to: URL(filePath: program))
    try #require(chmod(program, 0o700) == 0)
    var environment = Edits.environment("", home: folder.appending(path: "home").path)
    environment["VISUAL"] = program
    environment["PATH"] = folder.appending(path: "bin").path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    environment["XDG_RUNTIME_DIR"] = folder.appending(path: "desktop").path
    let editor = try TextEditor(executable: Edits.probe, environment: environment)
    #expect(try Edits.edit("", with: editor) == "bindesktopeditorhomebin\ndesktop\neditor\nhome\n")
    for name in names {
      #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "\(name)/new").path))
    }
  }

  @Test("A home of the name of the text's folder is seen, and the text is in another folder")
  func taken() throws {
    // In a /tmp of its own.
    let home =
      "exec 9< \"$1\"; mount -t tmpfs none /tmp && mkdir /tmp/coffer && HOME=/tmp/coffer exec /proc/self/fd/9 one"
    let script = "echo $1 > $1; touch ~/new 2> /dev/null && echo written >> $1; true"
    let said = try probe(["unshare", "-rm", "sh", "-c", home, "sh"], script)
    #expect(said == "changed\n/tmp/coffer-text/message.txt\n\n")
  }

  @Test("Every mount that the editor sees is read-only but the two in memory, and ours are as before")
  func mounts() throws {
    let before = try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
    let seen = try #require(try Edits.edit("", "cat /proc/self/mountinfo > \"$1\""))
    var writable: [String] = []
    for line in seen.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // Private: nothing that is mounted here is seen outside.
      #expect(!line.contains("shared:") && !line.contains("master:"))
      if fields[5].split(separator: ",").contains("rw") {
        writable.append(fields[4] + " " + (fields.drop { $0 != "-" }.dropFirst().first ?? ""))
      }
    }
    #expect(writable == ["/var/tmp ramfs", "/tmp ramfs"])
    #expect(try String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) == before)
  }

  @Test(
    "The editor leaves no core dump, gains no privileges, and has three open files and the asked variables")
  func process() throws {
    let seen = try #require(
      try Edits.edit(
        "",
        "cat /proc/self/limits /proc/self/status > /tmp/seen; echo $TMPDIR $(ls /proc/$PPID/fd /proc/self/fd) "
          + ">> /tmp/seen; cat /tmp/seen > \"$1\""))
    #expect(seen.contains(#/Max core file size +[01] +[01] /#))
    #expect(seen.contains("NoNewPrivs:\t1"))
    #expect(seen.hasSuffix("\n") && seen.contains("\n/tmp "))
  }

  @Test("The text is in no command line and no variable")
  func words() throws {
    let secret = UUID().uuidString
    let script =
      "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ > /tmp/seen 2> /dev/null; cat /tmp/seen >> \"$1\""
    let seen = try #require(try Edits.edit(secret, script, limit: 64 << 20))
    #expect(seen.count > 2 * secret.count && seen.ranges(of: secret).count == 1)
  }

  @Test("The edited text is gone from memory when it is let go")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) {
      recordingErrors {
        let needle = try IsolationTests().edited()
        try ProcessMemory.expectGone(needle)
      }
    }
  }

  @inline(never)
  private func edited() throws -> Needle {
    let editor = try TextEditor(
      executable: Edits.probe,
      environment: Edits.environment("head -c 3000 /dev/urandom | base64 -w 0 > \"$1\""))
    switch try editor.edit([1].span.bytes, ending: "txt", byteCountLimit: 4000) {
    case .unchanged: throw EditorError.didNotWait
    case .changed(let text):
      let needle = text.withBytes { Needle($0.extracting(1000..<1100)) }
      #expect(try !ProcessMemory.places(of: needle).isEmpty)
      return needle
    }
  }

  /// Runs the probe below another program.
  private func probe(_ prefix: [String], _ script: String, program: String = Edits.probe) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = prefix + [program, "one"]
    process.environment = Edits.environment(script)
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  @Test(
    "A user who is not root edits as root does, without any right", .enabled(if: geteuid() == 0, "needs root")
  )
  func user() throws {
    let script =
      "grep -h -e CapEff -e ^Uid -e NoNewPrivs /proc/self/status > \"$1\"; id -u >> \"$1\"; "
      + "touch /dev/shm/coffer-user /nothing 2> /dev/null && echo written >> \"$1\"; "
      + "umount /tmp 2> /dev/null && echo unmounted >> \"$1\"; true"
    // A copy: the tests may be in root's home, which that user may not enter.
    let copy = FileManager.default.temporaryDirectory.appending(path: "editing-\(UUID().uuidString)").path
    try FileManager.default.copyItem(atPath: Edits.probe, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let said = try probe(
      ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"], script, program: copy)
    #expect(
      said == """
        changed
        Uid:\t12345\t12345\t12345\t12345
        CapEff:\t0000000000000000
        NoNewPrivs:\t1
        12345


        """)
    #expect(!FileManager.default.fileExists(atPath: "/dev/shm/coffer-user"))
  }

  @Test(
    "Where the system refuses, no editor runs and the step is told",
    .enabled(if: geteuid() == 0, "needs root"))
  func refused() throws {
    let script = "touch /dev/shm/coffer-refused; echo two > \"$1\""
    // In a user namespace of its own that allows no more mount namespaces.
    let none = "echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$@\""
    let full = try probe(["unshare", "-r", "sh", "-c", none, "sh"], script)
    #expect(full == "notIsolated(Editing.EditorIsolationStep.namespaces, errno: \(ENOSPC))\n")
    // Without user namespaces, as an administrator may have it.
    let users =
      "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -all --inh-caps -all \"$@\""
    let without = try probe(["unshare", "-r", "sh", "-c", users, "sh"], script)
    #expect(without == "notIsolated(Editing.EditorIsolationStep.namespaces, errno: \(ENOSPC))\n")
    #expect(!FileManager.default.fileExists(atPath: "/dev/shm/coffer-refused"))
  }
}

extension String {
  /// The path of this name in a folder, for a line of shell.
  fileprivate func quoted(in folder: String) -> String { "\"\(folder)/\(self)\"" }
}
