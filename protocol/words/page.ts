/** Words of the page itself: buttons, and states next to names of values. */
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
  incident: ['Incident', 'Vorfall', 'Incident'],
  ended: ['ended', 'beendet', 'terminé'],
  push: ['Notifications on this device', 'Benachrichtigungen auf diesem Gerät', 'Notifications sur cet appareil'],
  theft: ['stolen', 'gestohlen', 'volée'],
} as const satisfies Readonly<Record<string, Wording>>;

/** Reasons why a device cannot receive notifications, with the fix, which names settings and scopes. */
export const pushObstacleWords = {
  insecure: [
    'Browsers demand HTTPS for them. Serve this page with TLS, and open it at its https address.',
    'Browser verlangen dafür HTTPS. Diese Seite mit TLS ausliefern und unter ihrer https-Adresse öffnen.',
    'Les navigateurs exigent HTTPS. Servez cette page avec TLS et ouvrez-la à son adresse https.',
  ],
  unsupported: [
    'This browser cannot receive them here. On an iPhone, add the page to the home screen and open it there.',
    'Dieser Browser kann hier keine empfangen. Auf dem iPhone die Seite zum Home-Bildschirm hinzufügen und dort öffnen.',
    'Ce navigateur ne peut pas en recevoir ici. Sur iPhone, ajoutez la page à l’écran d’accueil et ouvrez-la de là.',
  ],
  keyless: [
    'They need a key. Set callbacks.push in the configuration.',
    'Sie brauchen einen Schlüssel. callbacks.push in der Konfiguration setzen.',
    'Elles exigent une clé. Réglez callbacks.push dans la configuration.',
  ],
  denied: [
    'The browser refuses them for this page. Allow them in its settings for this site.',
    'Der Browser lehnt sie für diese Seite ab. In seinen Einstellungen für diese Website erlauben.',
    'Le navigateur les refuse pour cette page. Autorisez-les dans ses réglages pour ce site.',
  ],
  fleetSignIn: [
    'Only users receive them. Sign in with a token for a user.',
    'Nur Nutzer erhalten sie. Mit dem Token eines Nutzers anmelden.',
    'Seuls les utilisateurs en reçoivent. Connectez-vous avec le jeton d’un utilisateur.',
  ],
  scopes: [
    'Your token may read no incidents. It needs data:telemetry, or data:alert and data:position.',
    'Ihr Token darf keine Vorfälle lesen. Es braucht data:telemetry, oder data:alert und data:position.',
    'Votre jeton ne permet pas de lire les incidents. Il lui faut data:telemetry, ou data:alert et data:position.',
  ],
  tooMany: [
    'There are more than 50 cars. Turn them on at the page of each car.',
    'Es gibt mehr als 50 Autos. Auf der Seite jedes Autos einschalten.',
    'Il y a plus de 50 voitures. Activez-les sur la page de chaque voiture.',
  ],
} as const satisfies Readonly<Record<string, Wording>>;
