import { readBody } from './body.ts';
import type { RemoteKind } from './kind.ts';

/** Hands the way to the navigation of a car whose profile has one. */
export const navigation: RemoteKind = {
  type: 'Navigation',
  quiet: true,
  plan: (body) => {
    const positions = readBody('Navigation', body).positions.map(({ coordinates }) => [...coordinates]);
    return { actions: ['navigation.send'], parameters: { positions }, effects: [] };
  },
};
