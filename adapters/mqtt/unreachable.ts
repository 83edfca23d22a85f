/** What a failed attempt to connect becomes. */
import { VigieError } from '../../protocol/errors.ts';
import type { Closing } from './protocol-choice.ts';
import { reasonText } from './publishing.ts';
import type { Target } from './socket.ts';

/** What a person can do about a broker that cannot be reached, by what the system or the broker says. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no broker listens there; start it or correct the address',
  ENOTFOUND: 'the name is not known; correct it or check the name server',
  EAI_AGAIN: 'the name server does not answer; check the network',
  EHOSTUNREACH: 'there is no way to that host; check the network',
  ENETUNREACH: 'there is no network; check the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: "the broker's certificate is self-signed; give it as ca",
  SELF_SIGNED_CERT_IN_CHAIN: "the authority of the broker's certificate is not trusted; give it as ca",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the authority of the broker's certificate is not trusted; give it as ca",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the authority of the broker's certificate is not trusted; give it as ca",
  CERT_HAS_EXPIRED: "the broker's certificate has expired; renew it, or set this machine's clock",
  CERT_REVOKED: "the broker's certificate was revoked; do not trust it, and tell whoever runs the broker",
  UNABLE_TO_GET_CRL: "crl has no list of an authority of the broker's certificate; give one of each",
  CRL_HAS_EXPIRED: 'the revocation list is past its next update; renew crl',
  CRL_NOT_YET_VALID: "the revocation list is not valid yet; set this machine's clock",
  CERT_NOT_YET_VALID: "the broker's certificate is not valid yet; set this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "the broker's certificate is for another name; use that name as host",
  'input.unreadable': 'it is read again at each attempt',
  'configuration.wrong': 'replace it; it is read again at each attempt',
  EPROTO: 'the other side does not speak TLS as expected; check scheme, port and certificates',
};

/** Reason codes that are about who we are: 3.1.1 clause 3.2.2.3 codes 2, 4, 5; MQTT 5 clause 3.2.2.2 from 0x85. */
const identityRefused: readonly number[] = [0x02, 0x04, 0x05, 0x85, 0x86, 0x87, 0x8a, 0x8c];

/** Why an address cannot be used, with what to do about it. */
export function unreachable(target: Target, closing: Closing): VigieError {
  const cause = closing.cause;
  const systemCode = cause !== undefined && 'code' in cause ? String(cause.code) : '';
  const said = closing.code === undefined ? closing.reason : reasonText(closing.code);
  let todo = advice[systemCode];
  if (closing.code !== undefined && identityRefused.includes(closing.code)) {
    todo = 'the broker does not let this client in; check client id, user, password and certificate';
  }
  todo ??= 'check that address, port and scheme (mqtt or mqtts) are those of an MQTT broker';
  return new VigieError('link.refused', `cannot connect: ${said} (${todo})`, {
    where: target.address.text,
    cause,
  });
}
