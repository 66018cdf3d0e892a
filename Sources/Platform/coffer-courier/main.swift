// SPDX-License-Identifier: Apache-2.0
//
// The program with the network: see Specs/courier.md. It is started by coffer and by nobody else, has no keys of a
// coffer, and gives up what it does not need before its first request.

internal import CCurl
internal import CSystem
internal import CourierProtocol
internal import Glibc
internal import Remotes
internal import Secrets

/// The number of the channel.
let channel = CourierSocket(descriptor: 3)

/// Not exit(3): handlers that other code has registered must not run in this process.
func end(_ isProper: Bool) -> Never { _exit(isProper ? 0 : 1) }

var (user, parent) = (UInt32(), Int32())
guard unsafe coffer_peer(channel.descriptor, &user, &parent) == 0 else {
  let text = Array("coffer-courier is started by coffer, with a socket\n".utf8)
  unsafe coffer_write_all(STDERR_FILENO, text, text.count)
  _exit(64)
}

// Before the credentials come: nobody may read them here.
guard coffer_make_undumpable() == 0, let body = try? channel.receiveOpening(),
  let opening = try? body.withBytes({ body throws(CourierProtocolError) in try CourierOpening(body: body) })
else { end(false) }

// Both open libraries and settings, which the sandbox does not allow.
guard coffer_curl_start() == CURLE_OK else { end(false) }
coffer_prepare_name_service()

let step = coffer_enter_courier_sandbox(channel.descriptor, opening.place.port)
guard step == 0 else {
  let answer = CourierAnswer.notConfined(step: step, code: errno)
  end(channel.send(answer.frame(number: 0).rawSpan))
}
guard HangUpWatch.begin(channel) else { end(false) }
guard channel.send(CourierAnswer.ready.frame(number: 0).rawSpan) else { end(false) }
end(CourierService(channel, opening).run())
