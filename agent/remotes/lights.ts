import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Flashing lights, by which the car is found. */
export const lights: RemoteKind = {
  type: 'Lights',
  plan: (body) => ({ actions: [readBody('Lights', body).on ? 'lights.on' : 'lights.off'], effects: [] }),
};
