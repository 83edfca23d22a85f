import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** The profile action; it prevents or allows the next start and does nothing to a running engine. */
export const immobilizationAction = (activate: boolean): string =>
  activate ? 'immobilization.on' : 'immobilization.off';

export const immobilization: RemoteKind = {
  type: 'Immobilization',
  whileStolen: true,
  plan: (body) => ({ actions: [immobilizationAction(readBody('Immobilization', body).activate)], effects: [] }),
};
