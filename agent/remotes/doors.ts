import { decodeBody } from '../../protocol/command.ts';
import type { RemoteKind } from './kind.ts';

/** Central locking. `forced` is deprecated in the interface: accepted and without effect. */
export const doors: RemoteKind = {
  type: 'Doors',
  action: (body) => (decodeBody('Doors', body).state === 'Locked' ? 'doors.lock' : 'doors.unlock'),
};
