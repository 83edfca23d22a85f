/** Creates the error for a failed attempt to connect. */
import { certificateFault } from '../../protocol/certificate-faults.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Closing } from './protocol-choice.ts';
import { reasonText } from './publishing.ts';
import type { BrokerEndpoint } from './socket.ts';

/** Advice for an unreachable broker, by error code of the system or of Vigie. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no broker listens there; start it or correct the address',
  ENOTFOUND: 'the name is not known; correct it or check the name server',
  EAI_AGAIN: 'the name server does not answer; check the network',
  EHOSTUNREACH: 'there is no way to that host; check the network',
  ENETUNREACH: 'there is no network; check the connection',
  CERT_REVOKED: "the broker's certificate was revoked; do not trust it, and inform the operator of the broker",
  UNABLE_TO_GET_CRL: "crl has no list of an authority of the broker's certificate; give one of each",
  CRL_HAS_EXPIRED: 'the revocation list is past its next update; renew crl',
  CRL_NOT_YET_VALID: "the revocation list is not valid yet; set this machine's clock",
  'input.unreadable': 'it is read again at each attempt',
  'configuration.wrong': 'replace it; it is read again at each attempt',
  EPROTO: 'the other side does not speak TLS as expected; check scheme, port and certificates',
};

/** Reason codes about the client's identity: 3.1.1 clause 3.2.2.3 codes 2, 4, 5; MQTT 5 clause 3.2.2.2 from 0x85. */
const identityRefused: readonly number[] = [0x02, 0x04, 0x05, 0x85, 0x86, 0x87, 0x8a, 0x8c];

/** TLS alert that servers with TLS 1.2 also send if a client presents no certificate (RFC 5246 clause 7.4.6). */
const HANDSHAKE_FAILURE = 40;
/**
 * Alerts about a client's certificate (RFC 8446 clause 6.2): bad, unsupported, revoked, expired and unknown
 * certificate, unknown_ca, access_denied, certificate_required.
 */
const certificateAlerts: readonly number[] = [42, 43, 44, 45, 46, 48, 49, 116];

/** Returns the error for an unusable address, with advice. */
export function unreachable(target: BrokerEndpoint, closing: Closing): VigieError {
  const { cause } = closing;
  const alert = alertOf(cause);
  const said =
    closing.code !== undefined ? reasonText(closing.code) : alert === undefined ? closing.reason : alert.said;
  return new VigieError('link.refused', `cannot connect: ${said} (${adviceOn(target, closing, alert?.number)})`, {
    where: target.address.text,
    cause,
  });
}

function adviceOn(target: BrokerEndpoint, closing: Closing, alert: number | undefined): string {
  const { code, cause, silent } = closing;
  const { credentials, names } = target;
  if (code !== undefined && identityRefused.includes(code)) {
    const hint = names.refused === undefined ? '' : `; ${names.refused}`;
    return `the broker does not let this client in; check client id, user, password and certificate${hint}`;
  }
  const shown = credentials?.expires !== undefined;
  const certificate = shown
    ? `the broker does not accept the certificate that it was shown; give one of an authority that it trusts as ${names.certificate}`
    : `the broker requires a certificate of its clients; give ${names.certificate}`;
  if (alert === HANDSHAKE_FAILURE) return `perhaps ${certificate}`;
  if (alert !== undefined && certificateAlerts.includes(alert)) return certificate;
  const fault = certificateFault(cause, { server: 'the broker', authority: names.ca });
  if (fault !== undefined) return fault;
  const systemCode = cause !== undefined && 'code' in cause ? String(cause.code) : '';
  const known = advice[systemCode];
  if (known !== undefined) return known;
  const general = 'check that address, port and scheme (mqtt or mqtts) are those of an MQTT broker';
  return credentials !== undefined && silent ? `${general}; perhaps ${certificate}` : general;
}

/** Returns the alert with which the other side ended TLS. OpenSSL states its number only in the error message. */
function alertOf(cause: Error | undefined): { readonly number: number; readonly said: string } | undefined {
  const [, number] = /SSL alert number (\d+)/.exec(cause?.message ?? '') ?? [];
  return number === undefined
    ? undefined
    : { number: Number(number), said: `the broker ended TLS with alert ${number}` };
}
