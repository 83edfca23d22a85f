/** Connections of undici, restricted by {@link Addresses}. */
import { buildConnector } from 'undici';
import type { Addresses } from './addresses.ts';

/** Returns a connector for permitted addresses only; checks a host that is an address before connecting. */
export function connectorTo(addresses: Addresses, options: buildConnector.BuildOptions): buildConnector.connector {
  // The type lacks the options that it passes to net.connect and tls.connect.
  const connect = buildConnector({ ...options, lookup: addresses.lookup } as buildConnector.BuildOptions);
  return (target, done) => {
    const fault = addresses.refusal(target.hostname);
    if (fault === undefined) connect(target, done);
    else done(fault, null);
  };
}
