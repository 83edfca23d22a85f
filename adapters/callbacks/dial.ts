/** Connections of undici that are guarded by {@link Addresses}. */
import { buildConnector } from 'undici';
import type { Addresses } from './addresses.ts';

/** A connector that connects to permitted addresses only; a host that is an address is looked at before. */
export function connectorTo(addresses: Addresses, options: buildConnector.BuildOptions): buildConnector.connector {
  // Its type leaves out what it hands on to net.connect and tls.connect.
  const connect = buildConnector({ ...options, lookup: addresses.lookup } as buildConnector.BuildOptions);
  return (target, done) => {
    const fault = addresses.refusal(target.hostname);
    if (fault === undefined) connect(target, done);
    else done(fault, null);
  };
}
