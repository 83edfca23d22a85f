import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Nothing but being awake, which every command brings about before it is sent. */
export const wakeUp: RemoteKind = {
  type: 'WakeUp',
  whileStolen: true,
  whilePrivate: true,
  plan: (body) => {
    readBody('WakeUp', body);
    return { actions: [], effects: [] };
  },
};
