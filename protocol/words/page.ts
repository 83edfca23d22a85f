/** Words of the page itself: buttons and states that stand beside names of values. */
import type { Wording } from './languages.ts';

export const pageWords = {
  cancel: ['Cancel', 'Abbrechen', 'Annuler'],
  seen: ['Seen', 'Gesehen', 'Vu'],
  allSeen: ['All seen', 'Alle gesehen', 'Tout vu'],
  unseen: ['Not seen yet', 'Noch nicht gesehen', 'Pas encore vu'],
  ongoing: ['in progress', 'dauert an', 'en cours'],
  theft: ['stolen', 'gestohlen', 'volée'],
} as const satisfies Readonly<Record<string, Wording>>;
