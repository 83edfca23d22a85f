/**
 * What packed messages are compressed after in protocol version 1: shapes (shape.ts) of Status messages, whole ones of
 * cars with and without traction battery and changes of some ten values, one after the other. They hold no values, so
 * they fit one car as well as another. Not a byte may change: no packed message could be read any more. The data file
 * lists them in base64, for receivers in other languages; a bundle contains it.
 */
import shapes from '../generated/dictionary.json' with { type: 'json' };

export const dictionary: Uint8Array = Uint8Array.from(shapes.map(atob).join(''), (character) =>
  character.charCodeAt(0),
);
