/** Reasons why a TLS client rejects the certificate of a server, with the fix; the same for every client. */

/** Name of the server in sentences, such as "the broker", and the setting for its certificate authority. */
interface CheckedServer {
  readonly server: string;
  /** Setting for an authority that is not trusted, such as `mqtt.ca`. */
  readonly authority: string;
}

type Fault = (server: string, authority: string) => string;

const untrusted: Fault = (server, authority) =>
  `the authority of ${server}'s certificate is not trusted; give it as ${authority}`;

/** Faults by OpenSSL's verification result (openssl-verification-options(1)), or by the code of Node. */
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

/** Maximum depth of nested causes to examine. */
const MAX_DEPTH = 8;

/** Returns the certificate fault of an error, its causes or its parts, or undefined if there is none. */
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

/** Returns `text`, followed by the fault in brackets if the error is about a certificate. */
export function withCertificateFault(text: string, error: unknown, server: CheckedServer): string {
  const fault = certificateFault(error, server);
  return fault === undefined ? text : `${text} (${fault})`;
}
