import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { reasonOf, VigieError } from '../../protocol/errors.ts';

/** Resolves with the port when the server listens; rejects with `usage.wrong` if the address is not available. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw unavailable(`${host}:${port}`, cause);
  }
  return (server.address() as AddressInfo).port;
}

function unavailable(where: string, cause: unknown): VigieError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const text =
    code === 'EADDRINUSE'
      ? 'another program listens on this port (end it, or choose another port; 0 takes any free one)'
      : code === 'EACCES'
        ? 'this user may not listen on this port (choose one above 1023)'
        : code === 'EADDRNOTAVAIL'
          ? 'this machine does not have that address (use 127.0.0.1, or one of its own)'
          : `cannot listen: ${reasonOf(cause)} (choose another address)`;
  return new VigieError('usage.wrong', text, { where, cause });
}
