/** Rules for a GNSS receiver on the bus. */
import type { Rule } from '../rule.ts';
import { rule, twoStates } from '../rule.ts';

const around = 'latitude longitude altitude heading fix inertial speed time satellites vehicle rate angle';

export const position: readonly Rule[] = [
  rule('lastPosition.latitude', ['latitude!'], {
    besides: 'inertial',
    around,
    number: { covers: [-80, 80], within: [-215, 215], usual: [-90, 90] },
  }),
  rule('lastPosition.longitude', ['longitude!'], {
    besides: 'inertial',
    around,
    number: { covers: [-170, 170], within: [-360, 360], usual: [-180, 180] },
  }),
  rule('lastPosition.altitude', ['altitude!'], {
    besides: 'inertial',
    around,
    number: { covers: [0, 3000], within: [-20_000, 200_000], usual: [-500, 9000], unitNeeded: true },
  }),
  rule('lastPosition.heading', ['heading!'], {
    besides: 'inertial vehicle',
    around,
    number: { covers: [0, 350], within: [-1, 420], usual: [0, 360] },
  }),
  rule('lastPosition.fixStatus', ['fix!'], {
    besides: 'inertial configuration',
    around,
    states: { ...twoStates({ '3D': 'digit3', '2D': 'digit2' }), labelled: true },
  }),
];
