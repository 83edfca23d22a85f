/** Text values of custom signals, such as part numbers, which columns cannot represent. */
import { instant, record, required, type Static, text } from './fields.ts';

/** Maximum length of a text value in characters: a control unit's response has at most 4,095 bytes (ISO 15765-2). */
export const LONGEST_TEXT = 4_095;

/** Body of a `text` message. */
export const textSchema = record('SignalText', 'A custom signal of a car has another text.', {
  at: required(1, instant('When the car read it.')),
  name: required(2, text('Name of the custom signal, with points.')),
  text: required(3, text('The text.', { maxLength: LONGEST_TEXT })),
});
export type SignalText = Static<typeof textSchema>;
