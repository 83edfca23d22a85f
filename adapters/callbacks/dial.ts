/** Connections made by undici, restricted by {@link Addresses}. */
import { buildConnector } from 'undici';
import type { Addresses } from './addresses.ts';

/** Returns a connector for permitted addresses only. If the host is an address, checks it before connecting. */
export function connectorTo(addresses: Addresses, options: buildConnector.BuildOptions): buildConnector.connector {
  // This type lacks options that buildConnector passes on to net.connect and tls.connect.
  const connect = buildConnector({ ...options, lookup: addresses.lookup } as buildConnector.BuildOptions);
  return (target, done) => {
    const fault = addresses.refusal(target.hostname);
    if (fault === undefined) connect(target, done);
    else done(fault, null);
  };
}
