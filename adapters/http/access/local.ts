import { VigieError } from '../../../protocol/errors.ts';
import type { Caller } from '../call.ts';
import { isLoopback } from '../hosts.ts';
import type { Credentials, Gate } from './credentials.ts';

/** Gate of a bench: every local client has all rights. Host and Origin are checked to reject foreign web pages. */
export class LocalGate implements Gate {
  readonly challenge = 'Basic realm="vigie"';

  admit({ remote }: Credentials): Caller {
    if (isLoopback(remote)) return { name: 'local' };
    throw new VigieError('request.forbidden', 'without access control this is for the machine itself (localhost) only');
  }
}
