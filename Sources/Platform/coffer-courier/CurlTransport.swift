// SPDX-License-Identifier: Apache-2.0
//
// HTTP by libcurl. A connection is kept and used again; each request under way has its own.
//
// - HTTP/1.1 alone, no redirections, no proxies, no cookies, no compression: none of it is needed, and each would be code
//   that a server could reach.
// - With a pin, the pinned key alone vouches for the server; without one, the system's authorities and the name do.

internal import CCurl
internal import CourierProtocol
internal import Glibc
internal import Remotes
internal import S3Remotes
internal import Synchronization

/// One connection to the server, and what libcurl keeps for it.
///
/// Sendable: whoever has taken it out of the pool is the only one to use it.
@safe
private final class CurlConnection: @unchecked Sendable {
  let handle: UnsafeMutableRawPointer

  init?() {
    guard let handle = unsafe curl_easy_init() else { return nil }
    unsafe self.handle = unsafe handle
  }

  deinit { unsafe curl_easy_cleanup(handle) }
}

/// Carries requests to the server of a place.
final class CurlTransport: HTTPTransport {
  private let place: S3Place
  private let limits: CourierLimits
  private let idle = Mutex<[CurlConnection]>([])

  init(_ place: S3Place, _ limits: CourierLimits) {
    self.place = place
    self.limits = limits
  }

  func answer(_ request: HTTPRequest) throws(HTTPTransportError) -> HTTPAnswer {
    guard let connection = idle.withLock({ $0.popLast() }) ?? CurlConnection() else { throw .interrupted }
    defer { idle.withLock { $0.append(connection) } }
    let handle = unsafe connection.handle
    unsafe curl_easy_reset(handle)
    unsafe configure(handle)

    var headers: UnsafeMutablePointer<curl_slist>?
    defer { unsafe curl_slist_free_all(headers) }
    // Without a value: headers that libcurl would add by itself.
    let lines = request.headers.map { "\($0.name): \($0.value)" } + ["Expect:", "Accept:", "Content-Type:"]
    for line in lines {
      guard let longer = unsafe curl_slist_append(headers, line) else { throw .interrupted }
      unsafe headers = unsafe longer
    }
    unsafe set(handle, CURLOPT_HTTPHEADER, pointer: headers)
    unsafe set(
      handle, CURLOPT_URL, "\(place.isEncrypted ? "https" : "http")://\(place.authority)\(request.target)")

    let sink = CurlSink(request)
    let context = unsafe Unmanaged.passUnretained(sink).toOpaque()
    unsafe set(handle, CURLOPT_HEADERDATA, pointer: context)
    unsafe set(handle, CURLOPT_WRITEDATA, pointer: context)
    // An array of no bytes has no address, and without one libcurl would read standard input.
    let body = request.body.isEmpty ? [0] : request.body
    let result = unsafe body.withUnsafeBytes { bytes in
      unsafe setMethod(handle, request.method, bytes, byteCount: request.body.count)
      return unsafe curl_easy_perform(handle)
    }
    let hasConnected = unsafe coffer_curl_has_connected(handle) != 0
    // The body and the sink end before the connection.
    withExtendedLifetime(sink) { unsafe curl_easy_reset(handle) }
    if result != CURLE_OK, !sink.isFull { throw Self.error(result, hasConnected: hasConnected) }
    guard let status = sink.status else { throw .invalid }
    // Only an answer that says where it ends is known to be whole.
    guard sink.hasEnd || sink.isFull else { throw .interrupted }
    return HTTPAnswer(status: status, headers: sink.headers, body: sink.body)
  }

  /// For a name, a connection and TLS, at most. Three attempts of a name server and of TCP fit into it.
  private static let connectSeconds = 20

  /// Fewer bytes a second are no progress. No line is so slow, even for four requests at once, unless it is limited.
  private var lowestBytesPerSecond: Int {
    [limits.up, limits.down].filter { $0 > 0 }.reduce(64) { min($0, max(1, Int(clamping: $1 / 2))) }
  }

  private func configure(_ handle: UnsafeMutableRawPointer) {
    let stall = Int(limits.stallSeconds)
    unsafe set(handle, CURLOPT_NOSIGNAL, 1)
    unsafe set(handle, CURLOPT_PROTOCOLS_STR, place.isEncrypted ? "https" : "http")
    unsafe set(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    unsafe set(handle, CURLOPT_PATH_AS_IS, 1)
    unsafe set(handle, CURLOPT_PROXY, "")
    unsafe set(handle, CURLOPT_TCP_KEEPALIVE, 1)
    // libcurl looks at a limit of speed only after it has read what fits, many times over.
    unsafe set(handle, CURLOPT_BUFFERSIZE, limits.down == 0 ? 256 << 10 : 16 << 10)
    unsafe set(handle, CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10)
    unsafe set(handle, CURLOPT_CONNECTTIMEOUT, min(stall, Self.connectSeconds))
    // On average over that time; a server that sends a byte now and then would hold a request for ever.
    unsafe set(handle, CURLOPT_LOW_SPEED_LIMIT, lowestBytesPerSecond)
    unsafe set(handle, CURLOPT_LOW_SPEED_TIME, stall)
    unsafe set(handle, CURLOPT_MAX_SEND_SPEED_LARGE, size: limits.up)
    unsafe set(handle, CURLOPT_MAX_RECV_SPEED_LARGE, size: limits.down)
    unsafe set(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let pin = place.pin {
      unsafe set(handle, CURLOPT_PINNEDPUBLICKEY, pin)
      unsafe set(handle, CURLOPT_SSL_VERIFYPEER, 0)
      unsafe set(handle, CURLOPT_SSL_VERIFYHOST, 0)
    }
    unsafe require(coffer_curl_set_sink(handle, CURLOPT_HEADERFUNCTION, CurlSink.takeHeader))
    unsafe require(coffer_curl_set_sink(handle, CURLOPT_WRITEFUNCTION, CurlSink.takeBody))
  }

  private func setMethod(
    _ handle: UnsafeMutableRawPointer, _ method: HTTPRequest.Method, _ body: UnsafeRawBufferPointer,
    byteCount: Int
  ) {
    switch method {
    case .get: unsafe set(handle, CURLOPT_HTTPGET, 1)
    case .head: unsafe set(handle, CURLOPT_NOBODY, 1)
    case .delete: unsafe set(handle, CURLOPT_CUSTOMREQUEST, method.rawValue)
    case .put:
      // As the fields of a form, which libcurl sends from where they are, and again on another connection.
      unsafe set(handle, CURLOPT_CUSTOMREQUEST, method.rawValue)
      unsafe set(handle, CURLOPT_POST, 1)
      unsafe set(handle, CURLOPT_POSTFIELDSIZE_LARGE, size: UInt64(byteCount))
      unsafe set(
        handle, CURLOPT_POSTFIELDS,
        pointer: UnsafeMutableRawPointer(mutating: body.baseAddress))
    }
  }

  private static func error(_ result: CURLcode, hasConnected: Bool) -> HTTPTransportError {
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .unreachable
    // Nobody has answered at that address, as behind a network that drops what it does not know.
    case CURLE_OPERATION_TIMEDOUT where !hasConnected: .unreachable
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      .untrusted
    case CURLE_SSL_CONNECT_ERROR: .noHandshake
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_WRITE_ERROR, CURLE_BAD_CONTENT_ENCODING:
      .invalid
    default: .interrupted
    }
  }

  private func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, _ value: Int) {
    unsafe require(coffer_curl_set_number(handle, option, value))
  }

  private func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, size: UInt64) {
    unsafe require(coffer_curl_set_size(handle, option, Int(clamping: size)))
  }

  private func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, _ value: String) {
    unsafe require(coffer_curl_set_text(handle, option, value))
  }

  private func set(_ handle: UnsafeMutableRawPointer, _ option: CURLoption, pointer: UnsafeMutableRawPointer?)
  {
    unsafe require(coffer_curl_set_pointer(handle, option, pointer))
  }

  /// An option that this libcurl does not have, the pin above all, must not be passed over.
  private func require(_ result: CURLcode) {
    precondition(result == CURLE_OK, "libcurl takes every option")
  }
}
