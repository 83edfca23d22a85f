import { enumeration, flag, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

const mode = record(
  'GearboxMode',
  {
    automatic: optional(1, flag({ description: 'The gearbox shifts by itself.' })),
    sport: optional(2, flag({ description: 'Sport mode.' })),
    snow: optional(3, flag({ description: 'Snow mode.' })),
    sequential: optional(4, flag({ description: 'Sequential mode.' })),
    semiManual: optional(5, flag({ description: 'Semi-manual mode.' })),
  },
  { description: 'Modes that are on. Interface 3.19.2 Transmission.gearbox.mode.' },
);

/** The interface gives it no createdAt; ours is an additional member, as the user line serves one for adas. */
export const transmissionSchema = record(
  'Transmission',
  {
    createdAt,
    gearbox: optional(
      1,
      record(
        'Gearbox',
        {
          ratio: optional(
            1,
            enumeration(
              ['Ratio1', 'Ratio2', 'Ratio3', 'Ratio4', 'Ratio5', 'Ratio6', 'Ratio7', 'Ratio8', 'Neutral', 'Reverse'],
              { description: 'Gear that is engaged. Interface 3.19.2 Transmission.gearbox.ratio.' },
            ),
          ),
          mode: optional(2, mode),
        },
        { description: 'The gearbox. Interface 3.19.2 Transmission.gearbox.' },
      ),
    ),
  },
  { description: 'The transmission. Interface 3.19.2 Status.transmission.' },
);
