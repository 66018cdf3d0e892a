/* SPDX-License-Identifier: Apache-2.0
 *
 * libpq, its macros that Swift does not see, and the key of the server, which OpenSSL has. */
#ifndef COFFER_CPOSTGRESQL_SHIM_H
#define COFFER_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static const int coffer_pq_sqlstate = PG_DIAG_SQLSTATE;
static const int coffer_pq_constraint = PG_DIAG_CONSTRAINT_NAME;

/* The public key in the certificate of the server, as DER (SubjectPublicKeyInfo), once TLS has begun.
 * Its length; 0 where there is none, or `capacity` is not enough. */
static inline int coffer_pq_server_key(
    PGconn *_Nonnull connection, unsigned char *_Nonnull bytes, int capacity) {
  SSL *session = (SSL *)PQsslStruct(connection, "OpenSSL");
  X509 *certificate = session ? SSL_get1_peer_certificate(session) : NULL;
  X509_PUBKEY *key = certificate ? X509_get_X509_PUBKEY(certificate) : NULL;
  int count = key ? i2d_X509_PUBKEY(key, NULL) : 0;
  if (count > 0 && count <= capacity) {
    count = i2d_X509_PUBKEY(key, &bytes);
  } else {
    count = 0;
  }
  X509_free(certificate);
  return count;
}

#endif
