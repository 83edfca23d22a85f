/** Words of the page itself: buttons and states that stand beside names of values. */
import type { Wording } from './languages.ts';

export const pageWords = {
  cancel: ['Cancel', 'Abbrechen', 'Annuler'],
  seen: ['Seen', 'Gesehen', 'Vu'],
  allSeen: ['All seen', 'Alle gesehen', 'Tout vu'],
  unseen: ['Not seen yet', 'Noch nicht gesehen', 'Pas encore vu'],
  ongoing: ['in progress', 'dauert an', 'en cours'],
  fromPage: ['on the page', 'auf der Seite', 'sur la page'],
  fromInterface: ['over the interface', 'über die Schnittstelle', 'par l’interface'],
  fromBroker: ['through the broker', 'über den Broker', 'par le broker'],
  fromHub: ['through the hub', 'über den Hub', 'par le hub'],
  by: ['by', 'von', 'par'],
  theft: ['stolen', 'gestohlen', 'volée'],
} as const satisfies Readonly<Record<string, Wording>>;
