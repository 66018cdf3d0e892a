// SPDX-License-Identifier: Apache-2.0
//
// One connection to PostgreSQL, without blocking calls: each wait has an end.
//
// - The place and what is written here are all that libpq knows: the environment is empty, there is no home,
//   and the sandbox lets it read neither password files nor service files.
// - Without a pin, an authority of the system and the name vouch for the server. With one, the pinned key
//   alone does, and it is compared before anything is said but the beginning of TLS.
// - Texts of the server's errors are not asked for: they have names in them.

internal import CPostgreSQL
internal import CourierProtocol
internal import Glibc
internal import PostgreSQLRemotes
internal import Remotes
internal import Secrets

/// A connection that is ready for statements.
///
/// Sendable: whoever has taken it out of the pool is the only one to use it.
@safe
final class LibpqConnection: @unchecked Sendable {
  private let connection: OpaquePointer
  private let stallSeconds: Int
  private let deadline: LoginDeadline
  private var prepared: Set<PostgreSQLStatement> = []
  /// Whether the server has warned during the statement.
  private var isWarned = false

  /// For TCP, TLS and the login, at most. Looking the name up comes on top, as long as the system's resolver
  /// takes.
  private static let connectSeconds = 20
  /// For a statement and its answer, at most: six hours for an object of 64 MiB on the slowest line. A server that sends a
  /// byte now and then would hold a request for ever.
  private static let answerSeconds = 6 * 3_600
  /// Where Debian, Fedora and others have the authorities of the system in one file.
  private static let authorities = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
  ]

  /// Bytes in the rows of an answer, at most: an object, or a page of a list.
  private static let byteCountLimit = RemoteObject.byteCountLimit + 1 << 20

  /// Connects.
  /// - Parameter deadline: is told how long the login may take.
  init(
    _ place: PostgreSQLPlace, stallSeconds: Int, deadline: LoginDeadline
  ) throws(PostgreSQLTransportError) {
    self.stallSeconds = stallSeconds
    self.deadline = deadline
    guard let connection = unsafe Self.begin(place) else { throw .unreachable }
    unsafe self.connection = unsafe connection
    // In place of the texts of errors there are their codes.
    unsafe PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE)
    unsafe PQsetNoticeReceiver(
      connection, LibpqConnection.takeNotice, Unmanaged.passUnretained(self).toOpaque())
    try connect(place)
    guard unsafe PQsetnonblocking(connection, 1) == 0 else { throw .interrupted }
    // Names mean what the system has; a statement may take as long as its row takes to send, but waits for no
    // lock for long; and what is acknowledged is on its disk and on those of synchronous standbys, whatever the
    // settings of the role are: a warning says when it is not.
    let setUp = """
      SELECT set_config('search_path', 'pg_catalog', false), \
      set_config('statement_timeout', '0', false), \
      set_config('lock_timeout', '\(stallSeconds)s', false), \
      set_config('client_min_messages', 'warning', false), \
      set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' \
        WHEN 'remote_write' THEN 'on' \
        ELSE current_setting('synchronous_commit') END, false)
      """
    let isSent = unsafe PQsendQueryParams(connection, setUp, 0, nil, nil, nil, nil, 1)
    _ = try answer(isSent)
  }

  deinit { unsafe PQfinish(connection) }

  /// Carries a statement out.
  func rows(
    _ statement: PostgreSQLStatement, _ parameters: [[UInt8]]
  ) throws(PostgreSQLTransportError) -> [[[UInt8]?]] {
    if !prepared.contains(statement) {
      let isSent = unsafe PQsendPrepare(connection, statement.rawValue, statement.sql, 0, nil)
      _ = try answer(isSent)
      prepared.insert(statement)
    }
    isWarned = false
    let rows = try answer(send(statement, parameters))
    // "canceling wait for synchronous replication": the row is on one disk alone. It is to be written again.
    if statement == .put, isWarned { throw .interrupted }
    return rows
  }

  // MARK: Connecting

  private static func begin(_ place: PostgreSQLPlace) -> OpaquePointer? {
    let bare = place.host.hasPrefix("[") ? String(place.host.dropFirst().dropLast()) : place.host
    var options = [
      ("host", bare), ("port", "\(place.port)"), ("dbname", place.database), ("user", place.user),
      ("application_name", "coffer"), ("client_encoding", "UTF8"), ("gssencmode", "disable"),
    ]
    if !place.isEncrypted {
      options.append(("sslmode", "disable"))
      if bare == "localhost" { options.append(("hostaddr", "127.0.0.1")) }
    } else if place.pin != nil {
      options.append(("sslmode", "require"))
    } else {
      let file = authorities.first { unsafe access($0, R_OK) == 0 }
      options += [("sslmode", "verify-full"), ("sslrootcert", file ?? authorities[0])]
    }
    // libpq copies all of it, the password too, and erases that when the connection ends.
    let password = place.password.withBytes { secret in
      SecretBytes(byteCount: secret.byteCount + 1) { text in
        for offset in 0..<secret.byteCount {
          let byte = unsafe secret.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
          text.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
        text.storeBytes(of: 0, toByteOffset: secret.byteCount, as: UInt8.self)
      }
    }
    let keywords = unsafe (options.map(\.0) + ["password"]).map { unsafe strdup($0) }
    let values = unsafe options.map { unsafe strdup($0.1) }
    defer { unsafe (keywords + values).forEach { unsafe free($0) } }
    return unsafe password.withBytes { password in
      unsafe password.withUnsafeBytes { password in
        let names = unsafe keywords.map { unsafe UnsafePointer($0) } + [nil]
        let texts =
          unsafe values.map { unsafe UnsafePointer($0) }
          + [password.baseAddress?.assumingMemoryBound(to: CChar.self), nil]
        return unsafe PQconnectStartParams(names, texts, 0)
      }
    }
  }

  private func connect(_ place: PostgreSQLPlace) throws(PostgreSQLTransportError) {
    let seconds = min(stallSeconds, Self.connectSeconds)
    let end = Self.now() + seconds
    deadline.begin(seconds: seconds)
    defer { deadline.end() }
    var wanted = PGRES_POLLING_WRITING
    var last = unsafe PQstatus(connection)
    let hasPin = place.isEncrypted && place.pin != nil
    var isProven = false
    while wanted != PGRES_POLLING_OK {
      guard last != CONNECTION_BAD else { throw .unreachable }
      let events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT
      guard wait(events, seconds: end - Self.now()) else { throw last.hasBegun ? .interrupted : .unreachable }
      wanted = unsafe PQconnectPoll(connection)
      if wanted == PGRES_POLLING_FAILED { throw connectionError(at: last) }
      last = unsafe PQstatus(connection)
      guard hasPin else { continue }
      switch last {
      // Also at a second address of the same host.
      case CONNECTION_NEEDED, CONNECTION_STARTED, CONNECTION_SSL_STARTUP, CONNECTION_BAD: isProven = false
      case CONNECTION_MADE:
        isProven = false
        // Before TLS, or after its beginning, when nothing was said in it.
        guard isEncrypted else { break }
        guard serverKey().map({ ServerPin.isMet(place.pin ?? "", by: $0) }) == true else { throw .untrusted }
        isProven = true
      default: guard isProven else { throw .untrusted }
      }
    }
    guard isProven || !hasPin, isEncrypted || !place.isEncrypted else { throw .untrusted }
  }

  /// Whether TLS has begun.
  private var isEncrypted: Bool { unsafe PQsslInUse(connection) != 0 }

  private func serverKey() -> [UInt8]? {
    var key = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe key.withUnsafeMutableBufferPointer { bytes in
      unsafe bytes.baseAddress.map { unsafe coffer_pq_server_key(connection, $0, Int32(bytes.count)) } ?? 0
    }
    return count > 0 ? Array(key.prefix(Int(count))) : nil
  }

  /// libpq tells what went wrong while it connected in words alone, which are its own and not translated
  /// here; a code of the server is their last one.
  /// - Parameter status: before it went wrong.
  private func connectionError(at status: ConnStatusType) -> PostgreSQLTransportError {
    let text = unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
    let word = text.split { $0.isWhitespace }.last ?? ""
    if word.utf8.count == 5,
      word.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) })
    {
      return .refused(state: String(word), constraint: nil)
    }
    guard status.hasBegun else { return .unreachable }
    if text.contains("certificate") || text.contains("does not support SSL") { return .untrusted }
    // Something else listens there.
    if text.contains("received invalid") || text.contains("expected auth") || text.contains("wrong version") {
      return .invalid
    }
    return .interrupted
  }

  // MARK: Statements

  private func send(_ statement: PostgreSQLStatement, _ parameters: [[UInt8]]) -> Int32 {
    let lengths = parameters.map { Int32($0.count) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    // An array of no bytes has no address, which would be NULL.
    let values = parameters.map { $0.isEmpty ? [0] : $0 }
    var pointers: [UnsafePointer<CChar>?] = unsafe []
    func send(_ index: Int) -> Int32 {
      guard index < values.count else {
        return unsafe PQsendQueryPrepared(
          connection, statement.rawValue, Int32(values.count), pointers, lengths, formats, 1)
      }
      return unsafe values[index].withUnsafeBytes { bytes in
        unsafe pointers.append(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        return send(index + 1)
      }
    }
    return send(0)
  }

  /// Sends what waits, and takes the answer to its end.
  private func answer(_ isSent: Int32) throws(PostgreSQLTransportError) -> [[[UInt8]?]] {
    guard isSent == 1 else { throw .interrupted }
    // Row by row, so that a server cannot fill the memory with many.
    _ = unsafe PQsetSingleRowMode(connection)
    let end = Self.now() + Self.answerSeconds
    while true {
      let rest = unsafe PQflush(connection)
      guard rest >= 0 else { throw .interrupted }
      if rest == 0 { break }
      // The server may say something before it has read everything.
      guard wait(POLLIN | POLLOUT, seconds: min(stallSeconds, end - Self.now())),
        unsafe PQconsumeInput(connection) == 1
      else { throw .interrupted }
    }
    var rows: [[[UInt8]?]] = []
    var byteCount = 0
    var error: PostgreSQLTransportError?
    while true {
      while unsafe PQisBusy(connection) == 1 {
        guard wait(POLLIN, seconds: min(stallSeconds, end - Self.now())),
          unsafe PQconsumeInput(connection) == 1
        else { throw .interrupted }
      }
      guard let result = unsafe LibpqResult(PQgetResult(connection)) else { break }
      guard result.isExpected else { throw .invalid }
      guard result.isGood else {
        error = error ?? result.error
        continue
      }
      let more = result.rows()
      rows += more
      byteCount += more.reduce(0) { $1.reduce($0) { $0 + ($1?.count ?? 0) } }
      guard rows.count <= PostgreSQLStatement.rowCountLimit, byteCount <= Self.byteCountLimit else {
        throw .invalid
      }
    }
    if let error { throw error }
    return rows
  }

  private static let takeNotice: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void = {
    context, notice in
    guard let context = unsafe context, let code = unsafe PQresultErrorField(notice, coffer_pq_sqlstate),
      unsafe String(cString: code).hasPrefix("01")
    else { return }
    unsafe Unmanaged<LibpqConnection>.fromOpaque(context).takeUnretainedValue().isWarned = true
  }

  // MARK: Waiting

  /// Whether the socket is ready within that time.
  private func wait(_ events: Int32, seconds: Int) -> Bool {
    var waiting = unsafe pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
    guard waiting.fd >= 0, seconds > 0 else { return false }
    let end = Self.now() + seconds
    while true {
      let count = unsafe poll(&waiting, 1, Int32(max(0, end - Self.now()) * 1_000))
      if count >= 0 || errno != EINTR { return count > 0 }
    }
  }

  /// Seconds of a clock that nobody sets.
  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}

extension ConnStatusType {
  /// Whether somebody has answered at the address.
  fileprivate var hasBegun: Bool {
    self != CONNECTION_STARTED && self != CONNECTION_NEEDED && self != CONNECTION_BAD
  }
}
