import { enumeration, flag, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

const mode = record('GearboxMode', 'Modes that are on. Interface 3.19.2 Transmission.gearbox.mode.', {
  automatic: optional(1, flag('The gearbox shifts by itself.')),
  sport: optional(2, flag('Sport mode.')),
  snow: optional(3, flag('Snow mode.')),
  sequential: optional(4, flag('Sequential mode.')),
  semiManual: optional(5, flag('Semi-manual mode.')),
});

/** The interface defines no createdAt. It is an addition here, like that of adas on the user line. */
export const transmissionSchema = record('Transmission', 'The transmission. Interface 3.19.2 Status.transmission.', {
  createdAt,
  gearbox: optional(
    1,
    record('Gearbox', 'The gearbox. Interface 3.19.2 Transmission.gearbox.', {
      ratio: optional(
        1,
        enumeration('Gear that is engaged. Interface 3.19.2 Transmission.gearbox.ratio.', [
          'Ratio1',
          'Ratio2',
          'Ratio3',
          'Ratio4',
          'Ratio5',
          'Ratio6',
          'Ratio7',
          'Ratio8',
          'Neutral',
          'Reverse',
        ]),
      ),
      mode: optional(2, mode),
    }),
  ),
});
