/** Why a TLS client refuses the certificate of a server, in words, with what to do; the same for every client. */

/** The server, as in "the broker", and where its authority is configured. */
interface CheckedServer {
  readonly server: string;
  /** Where to give an authority that is not trusted, such as `mqtt.ca`. */
  readonly authority: string;
}

type Fault = (server: string, authority: string) => string;

const untrusted: Fault = (server, authority) =>
  `the authority of ${server}'s certificate is not trusted; give it as ${authority}`;

/** By OpenSSL's result of the verification (openssl-verification-options(1)), or the code of Node. */
const faults: Readonly<Record<string, Fault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: (server, authority) => `${server}'s certificate is self-signed; give it as ${authority}`,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: (server) => `${server}'s certificate has expired; renew it, or set this machine's clock`,
  CERT_NOT_YET_VALID: (server) => `${server}'s certificate is not valid yet; set this machine's clock`,
  ERR_TLS_CERT_ALTNAME_INVALID: (server) => `${server}'s certificate is for another name; use that name as host`,
};

/** Causes of causes that are looked through. */
const MAX_DEPTH = 8;

/** Undefined if the error, its causes and its parts have nothing to do with a certificate of a server. */
export function certificateFault(error: unknown, server: CheckedServer, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const fault = typeof code === 'string' && Object.hasOwn(faults, code) ? faults[code] : undefined;
  if (fault !== undefined) return fault(server.server, server.authority);
  for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])]) {
    const found = certificateFault(inner, server, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `text`, with the fault in brackets if the error is about a certificate. */
export function withCertificateFault(text: string, error: unknown, server: CheckedServer): string {
  const fault = certificateFault(error, server);
  return fault === undefined ? text : `${text} (${fault})`;
}
