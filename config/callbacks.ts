/** The `callbacks` section of vigie.yaml: permitted destinations and limits of notifications. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { type CallbackSettings, callbackSettings } from '../protocol/settings.ts';
import { checkAwaited } from './awaited-file.ts';
import { closed, line, listOf, truth } from './fields.ts';
import type { Findings } from './findings.ts';
import { isNetwork, network } from './networks.ts';
import { members, readSettings } from './settings.ts';

export const callbacksSchema = closed('Receivers of events: webhook, websocket, push', {
  networks: Type.Optional(listOf(network, 0, 'Networks that are not public and may be connected to all the same')),
  allowHttp: Type.Optional(truth('http:// and ws:// are allowed, not only https:// and wss://')),
  ca: Type.Optional(line('Certificates (PEM) of the authorities that receivers are checked against')),
  ...members(callbackSettings),
  push: Type.Optional(
    closed('Web Push; without it no push notifications are sent', {
      subject: line('Where push services reach the operator (RFC 8292)', {
        pattern: '^(mailto:[^\\s@]+@[^\\s@]+|https://[^\\s]+)$',
        expected: 'an address such as mailto:operator@example.org or https://example.org/contact',
      }),
      publicKey: line('Key that apps subscribe with (applicationServerKey)', {
        pattern: '^B[A-Za-z0-9_-]{86}$',
        expected: 'a public key of P-256 in base64url, 87 characters that begin with B',
      }),
      privateKeyFile: line('File that contains the private key in base64url and nothing else'),
    }),
  ),
});
type CallbacksInput = Static<typeof callbacksSchema>;

/** The `callbacks` section with absolute paths. */
export interface CallbacksConfiguration extends CallbackSettings {
  readonly networks: readonly string[];
  readonly allowHttp: boolean;
  readonly ca?: string;
  readonly push?: {
    readonly subject: string;
    readonly publicKey: string;
    /** File with the private key. Read it with `readSecret`. */
    readonly privateKeyFile: string;
  };
}

/** Reads `callbacks`. `beside` returns absolute paths. */
export function readCallbacks(
  input: CallbacksInput | undefined,
  beside: (path: string) => string,
  findings: Findings,
): CallbacksConfiguration {
  const settings = readSettings(callbackSettings, input, '/callbacks', findings);
  if (input === undefined || !findings.sound('/callbacks')) return { networks: [], allowHttp: false, ...settings };
  const { networks = [], allowHttp = false, ca, push } = input;
  for (const [index, one] of networks.entries()) {
    if (isNetwork(one)) continue;
    findings.error(`/callbacks/networks/${index}`, `${one} is not a network`, 'write e.g. 192.168.1.0/24');
  }
  if (ca !== undefined) checkAwaited('/callbacks/ca', beside(ca), findings);
  const privateKeyFile = push === undefined ? undefined : beside(push.privateKeyFile);
  if (privateKeyFile !== undefined) {
    checkAwaited('/callbacks/push/privateKeyFile', privateKeyFile, findings, { secret: true });
  }
  return {
    networks,
    allowHttp,
    ...(ca === undefined ? {} : { ca: beside(ca) }),
    ...settings,
    ...(push === undefined || privateKeyFile === undefined ? {} : { push: { ...push, privateKeyFile } }),
  };
}
