import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** The horn. */
export const horn: RemoteKind = {
  type: 'Horn',
  plan: (body) => ({
    actions: [readBody('Horn', body).state === 'Activated' ? 'horn.on' : 'horn.off'],
    effects: [],
  }),
};
