// SPDX-License-Identifier: Apache-2.0
//
// Keys out of a real gpg, and what happens when it is missing, too old, or does not behave.

import Foundation
import Primitives
import Secrets
import Testing

@testable import GnuPG

private let variables = ProcessInfo.processInfo.environment

@Suite("Keys out of GnuPG")
struct GnuPGTests {
  private func secret(_ text: String) -> SharedSecretBytes {
    SharedSecretBytes(SecretBytes(copying: Array(text.utf8).span.bytes))
  }

  private func bytes(_ secret: consuming SecretBytes) -> [UInt8] { secret.withBytes { [UInt8](copying: $0) } }

  private func error(_ body: () throws -> Void) -> GnuPGError? {
    do {
      try body()
      return nil
    } catch { return error as? GnuPGError }
  }

  @Test("Lists, public parts and private parts are those that gpg itself gives out")
  func works() throws {
    let home = try GnuPGHome()
    let open = try home.makeKey("Open <open@example.org>")
    let ada = try home.makeKey("Ada <ada@example.org>", passphrase: "five herons")
    let gpg = try GnuPG(home: home.path, variables: variables)
    #expect(try home.shell("gpg --version").contains("gpg (GnuPG) \(gpg.version)\n"))
    let keys = try gpg.privateKeys()
    #expect(keys.map(\.fingerprint) == [open, ada])
    #expect(keys[1].userIDs == ["Ada <ada@example.org>"] && keys[1].places == [.here, .here])
    #expect(keys[1].algorithm == "ed25519" && keys[1].expires == nil)
    #expect(try gpg.publicKeys().map(\.fingerprint) == [open, ada])
    let exported = try home.shell("gpg --export \(ada) \(open) | base64 -w0")
    #expect(try Data(bytes(gpg.publicParts([ada, open]))).base64EncodedString() == exported)
    // Without a passphrase what comes is the same each time.
    let unprotected = try home.shell(
      "gpg --batch --pinentry-mode error --export-secret-keys \(open) | base64 -w0")
    #expect(try Data(bytes(gpg.privatePart(open, asking: .nobody))).base64EncodedString() == unprotected)

    #expect(error { _ = try gpg.privatePart(ada, asking: .nobody) } == .passphraseNeeded)
    #expect(error { _ = try gpg.privatePart(ada, asking: .passphrase(secret("six"))) } == .wrongPassphrase)
    let part = try bytes(gpg.privatePart(ada, asking: .passphrase(secret("five herons"))))
    try Data(part).write(to: home.folder.appending(path: "part"))
    let packets = try home.shell("gpg --list-packets \(home.path)/part")
    #expect(packets.contains(":secret key packet:") && packets.contains(":secret sub key packet:"))
    #expect(packets.contains("ada@example.org") && !packets.contains("gnu-dummy"))

    // Its own pinentry asks where its settings want that.
    let pinentry = try home.program(
      """
      echo OK
      while read -r line; do
        case $line in GETPIN) echo "D five herons" ;; BYE) exit ;; esac
        echo OK
      done
      """)
    try Data("no-allow-loopback-pinentry\npinentry-program \(pinentry)\n".utf8)
      .write(to: home.folder.appending(path: "gpg-agent.conf"))
    try home.shell("gpgconf --kill all")
    #expect(
      error { _ = try gpg.privatePart(ada, asking: .passphrase(secret("five herons"))) } == .loopbackForbidden
    )
    #expect(try bytes(gpg.privatePart(ada, asking: .pinentry)).count == part.count)
  }

  @Test("A primary key that is elsewhere, and one on a card, are told from one that is here")
  func places() throws {
    let home = try GnuPGHome()
    _ = try home.makeKey("Off <off@example.org>")
    _ = try home.makeKey("Card <card@example.org>")
    try home.shell(
      #"""
      grip() { gpg --with-colons --with-keygrip -K "$1" | awk -F: '$1 == "grp" { print $10 }' | sed -n "$2p"; }
      off=$(grip off@example.org 1) card=$(grip card@example.org 2)
      gpgconf --kill all
      rm "$GNUPGHOME/private-keys-v1.d/$off.key"
      perl -0pi -e 's/\(private-key/(shadowed-private-key/; s/\(d #[0-9A-F]+#\)\s*\)\)/(shadowed t1-v1 (#D2760001240103040006000000010000# OPENPGP.2))))/' \
        "$GNUPGHOME/private-keys-v1.d/$card.key"
      """#)
    let gpg = try GnuPG(home: home.path, variables: variables)
    #expect(try gpg.privateKeys().map(\.places) == [[.elsewhere, .here], [.here, .card]])
  }

  @Test("Missing, too old, another program, no keys: each has its error, and no folder is made")
  func absent() throws {
    let home = try GnuPGHome()
    #expect(
      error { _ = try GnuPG(program: "/nonexistent/gpg", home: home.path, variables: variables) } == .missing)
    let old = try home.program("echo 'gpg (GnuPG) 2.0.31'")
    #expect(
      error { _ = try GnuPG(program: old, home: home.path, variables: variables) }
        == .tooOld(version: "2.0.31"))
    let other = try home.program("echo 'sq 1.0'")
    #expect(
      error { _ = try GnuPG(program: other, home: home.path, variables: variables) } == .tooOld(version: nil))
    let nowhere = home.path + "/nowhere"
    #expect(error { _ = try GnuPG(home: nowhere, variables: variables) } == .noHome(nowhere))
    #expect(!FileManager.default.fileExists(atPath: nowhere))
  }

  @Test(
    "A gpg that hangs is ended, and one whose agent keeps the pipes is not waited for",
    arguments: [false, true])
  func hangs(withAgent: Bool) throws {
    let home = try GnuPGHome()
    // A program that was waited for would end well, after a quarter of an hour.
    let program = try home.program(
      """
      case "$*" in --version) echo 'gpg (GnuPG) 2.4.0'; exit ;; esac
      echo $$ >'\(home.path)/process'
      \(withAgent ? "sleep 1000 & echo $! >'\(home.path)/agent'; exit 0" : "exec sleep 1000")
      """)
    var gpg = try GnuPG(program: program, home: home.path, variables: variables)
    gpg.patience.seconds = withAgent ? 600 : 3
    let found = error { _ = try gpg.privateKeys() }
    #expect(found == (withAgent ? nil : .notAnswering))
    // One that was ended before its first line has told no number.
    let process = try? String(contentsOf: home.folder.appending(path: "process"), encoding: .utf8)
    #expect(process != nil || !withAgent)
    if let process { #expect(try home.shell("kill -0 \(process) && echo there") == "") }
    if withAgent { try home.shell("kill $(cat '\(home.path)/agent')") }
  }

  @Test("Output without end, a listing that is not one, and a failure that its exit code hides")
  func misbehaves() throws {
    let home = try GnuPGHome()
    let program = try home.program(
      """
      case "$*" in
        --version) echo 'gpg (GnuPG) 2.4.0' ;;
        *--list-secret-keys*) printf 'sec:u:255:22:A:1:::u:::sc:::+::ed25519:::0:\\nfpr:::::::::XYZ:\\n' ;;
        *--list-keys*) exit 2 ;;
        *--export-secret-keys*aaaa*) cat /dev/zero ;;
        *--export-secret-keys*) printf part; printf '[GNUPG:] ERROR export_keys.secret 67108875\\n' >&3 ;;
        *) while echo '[GNUPG:] PROGRESS'; do :; done >&3 ;;
      esac
      """)
    let gpg = try GnuPG(program: program, home: home.path, variables: variables)
    #expect(error { _ = try gpg.privateKeys() } == .notUnderstood)
    #expect(error { _ = try gpg.publicKeys() } == .failed(code: 0))
    #expect(
      error { _ = try gpg.privatePart("aaaa", asking: .nobody) }
        == .tooLong(byteCountLimit: GnuPG.privateByteCountLimit))
    #expect(error { _ = try gpg.privatePart("bbbb", asking: .nobody) } == .wrongPassphrase)
    #expect(error { _ = try gpg.publicParts(["cccc"]) } == .tooLong(byteCountLimit: 1 << 20))
  }

  @Test("The passphrase goes through a pipe: neither the arguments nor the environment of gpg have it")
  func passphraseIsHidden() throws {
    let home = try GnuPGHome()
    let program = try home.program(
      """
      case "$*" in --version) echo 'gpg (GnuPG) 2.4.0'; exit ;; esac
      { tr '\\0' '\\n' </proc/$$/cmdline; tr '\\0' '\\n' </proc/$$/environ; ls /proc/$$/fd; } >'\(home.path)/seen'
      cat <&4
      """)
    let gpg = try GnuPG(program: program, home: home.path, variables: variables)
    let given = try bytes(gpg.privatePart("aaaa", asking: .passphrase(secret("five herons"))))
    #expect(String(decoding: given, as: UTF8.self) == "five herons")
    let seen = try String(contentsOf: home.folder.appending(path: "seen"), encoding: .utf8)
    #expect(seen.contains("--passphrase-fd\n4\n") && !seen.contains("herons"))
    #expect(!seen.contains("COFFER") && seen.contains("LC_ALL=C\n"))
  }

  @Test("Listings: escapes, revoked names, algorithms")
  func listing() throws {
    let fingerprint = String(repeating: "A", count: 40)
    let keys = try GnuPGListing.keys(
      """
      tru::1:1795386163:0:3:1:5
      sec:u:4096:1:KEYID:1:1900000000::u:::scESC:::#:::23::0:
      fpr:::::::::\(fingerprint):
      uid:r::::1::HASH::Former::::::::::0:
      uid:u::::1::HASH::Ada\\x3a \\n[x] \\xc3\\xab \\\\ \\xzz::::::::::0:
      ssb:u:4096:1:KEYID:1::::::e:::+:::23:
      fpr:::::::::\(String(repeating: "B", count: 40)):
      pub:-:1024:17:KEYID:1:::-:::scSC:::::::0:
      fpr:::::::::\(String(repeating: "C", count: 64)):
      """)
    #expect(keys.count == 2)
    #expect(keys[0].fingerprint == fingerprint.lowercased() && keys[0].expires == 1_900_000_000)
    #expect(keys[0].userIDs == ["Ada: \n[x] ë \\ \\xzz"] && keys[0].places == [.elsewhere, .here])
    #expect(keys[1].algorithm == "DSA 1024" && keys[1].userIDs.isEmpty)
    #expect(try GnuPGListing.keys("").isEmpty)
    #expect(throws: GnuPGError.notUnderstood) { try GnuPGListing.keys("sec:u") }
    #expect(throws: GnuPGError.notUnderstood) { try GnuPGListing.keys("pub:::::::::::::::::::\nuid:x") }
  }
}
