import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Central locking. */
export const doors: RemoteKind = {
  type: 'Doors',
  plan: (body) => ({
    actions: [readBody('Doors', body).state === 'Locked' ? 'doors.lock' : 'doors.unlock'],
    effects: [],
  }),
};
