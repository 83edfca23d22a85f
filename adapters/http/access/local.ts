import { VigieError } from '../../../protocol/errors.ts';
import type { Caller } from '../call.ts';
import type { Gate, Presented } from './presented.ts';

/** Addresses of the machine itself (RFC 6890). */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/**
 * The bench: whoever sits at the machine may do everything. A page in its browser may not: it gets no answer under
 * another name than the machine's own (DNS rebinding).
 */
export class LocalGate implements Gate {
  readonly challenge = 'Basic realm="vigie"';

  admit({ remote, host }: Presented): Caller {
    const name = host.replace(/:\d+$/, '');
    if (isLoopback(remote) && isLoopback(name)) return { name: 'local' };
    throw new VigieError('request.forbidden', 'without access control this is for the machine itself (localhost) only');
  }
}
