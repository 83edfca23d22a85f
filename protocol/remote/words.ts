/** Display texts for commands: kinds, orders, states, and failure causes. */
import type { FailureCause } from '../errors.ts';
import type { CommandKind, RemoteStatus } from '../schema/remote.ts';
import type { Terms, Wording } from '../words/languages.ts';

export const commandWords: Terms<CommandKind> = {
  ThermalPreconditioning: ['Preconditioning', 'Vorklimatisierung', 'Préconditionnement'],
  ElectricBatteryChargingRequest: ['Charging', 'Laden', 'Recharge'],
  Horn: ['Horn', 'Hupe', 'Klaxon'],
  Doors: ['Doors', 'Türen', 'Portes'],
  Lights: ['Lights', 'Licht', 'Feux'],
  Immobilization: ['Immobiliser', 'Wegfahrsperre', 'Immobilisation'],
  Stolen: ['Theft', 'Diebstahl', 'Vol'],
  WakeUp: ['Wake up', 'Wecken', 'Réveil'],
  Navigation: ['Navigation', 'Navigation', 'Navigation'],
  Monitor: ['Monitors', 'Überwachungen', 'Surveillances'],
  Callback: ['Notifications', 'Benachrichtigungen', 'Notifications'],
  Configuration: ['Configuration', 'Konfiguration', 'Configuration'],
  Trust: ['Trusted keys', 'Vertraute Schlüssel', 'Clés de confiance'],
  Resend: ['Send again', 'Erneut senden', 'Renvoi'],
  Collect: ['Data collection', 'Datensammlung', 'Collecte de données'],
  ReadFaults: ['Read fault codes', 'Fehlercodes lesen', 'Lecture des codes de défaut'],
  Capture: ['Capture of the bus', 'Busaufzeichnung', 'Capture du bus'],
};

/** Text of an order's button, by kind and name of the order. */
export const orderWords = {
  'ThermalPreconditioning on': ['Start', 'Starten', 'Démarrer'],
  'ThermalPreconditioning off': ['Stop', 'Beenden', 'Arrêter'],
  'ElectricBatteryChargingRequest on': ['Start charging', 'Laden starten', 'Démarrer la recharge'],
  'ElectricBatteryChargingRequest off': ['Stop charging', 'Laden beenden', 'Arrêter la recharge'],
  'ElectricBatteryChargingRequest never': [
    'Delete the charging times',
    'Ladezeiten löschen',
    'Supprimer les heures de recharge',
  ],
  'Horn on': ['Sound the horn', 'Hupen', 'Klaxonner'],
  'Horn off': ['Stop the horn', 'Hupe aus', 'Arrêter le klaxon'],
  'Doors lock': ['Lock', 'Verriegeln', 'Verrouiller'],
  'Doors unlock': ['Unlock', 'Entriegeln', 'Déverrouiller'],
  'Lights on': ['Flash the lights', 'Licht blinken lassen', 'Faire clignoter les feux'],
  'Lights off': ['Stop the lights', 'Licht aus', 'Éteindre les feux'],
  'Immobilization on': ['Immobilize', 'Wegfahrsperre an', 'Immobiliser'],
  'Immobilization off': ['Allow starting', 'Wegfahrsperre aus', 'Autoriser le démarrage'],
  'Stolen on': ['Declare stolen', 'Als gestohlen melden', 'Déclarer volée'],
  'Stolen off': ['Declare found', 'Als gefunden melden', 'Déclarer retrouvée'],
  'WakeUp wakeup': ['Wake up', 'Wecken', 'Réveiller'],
} as const satisfies Readonly<Record<string, Wording>>;

/** Confirmation questions for orders that cannot be undone at once. */
export const orderQuestionWords = {
  'Doors unlock': [
    'Anybody beside the car can open it then. Unlock the doors?',
    'Dann kann jeder neben dem Auto es öffnen. Die Türen entriegeln?',
    'N’importe qui à côté de la voiture pourra l’ouvrir. Déverrouiller les portes ?',
  ],
  'Immobilization on': [
    'The engine does not start again until somebody allows it. Immobilize the car?',
    'Der Motor startet erst wieder, wenn es jemand erlaubt. Die Wegfahrsperre einschalten?',
    'Le moteur ne redémarrera qu’après autorisation. Immobiliser la voiture ?',
  ],
  'Stolen on': [
    'The car sends its position in spite of the driver’s privacy. Declare it stolen?',
    'Das Auto sendet seine Position, auch wenn der Fahrer sie verbirgt. Es als gestohlen melden?',
    'La voiture enverra sa position même si le conducteur la masque. La déclarer volée ?',
  ],
} as const satisfies Partial<Readonly<Record<keyof typeof orderWords, Wording>>>;

/** `Requested` is the state of a command without a report from the car; it is not on the wire. */
export const commandStateWords: Terms<RemoteStatus | 'Requested'> = {
  Requested: ['requested', 'angefordert', 'demandée'],
  Accepted: ['accepted', 'angenommen', 'acceptée'],
  Failed: ['failed', 'fehlgeschlagen', 'échouée'],
  Success: ['done', 'ausgeführt', 'exécutée'],
  AlreadyDone: ['already so', 'war schon so', 'déjà fait'],
  WakingUpVehicle: ['waking the car', 'weckt das Auto', 'réveil de la voiture'],
  CheckingVehicle: ['checking the car', 'prüft das Auto', 'vérification de la voiture'],
  SentToVehicle: ['sent to the car', 'ans Auto gesendet', 'envoyée à la voiture'],
  VehicleBatteryChargeTooLow: ['battery too low', 'Batterie zu schwach', 'batterie trop faible'],
  TooManyWakeUpsOverMonth: ['woken too often this month', 'diesen Monat zu oft geweckt', 'trop de réveils ce mois-ci'],
};

export const failureWords: Terms<FailureCause> = {
  GeneralError: ['general fault', 'allgemeiner Fehler', 'erreur générale'],
  VehicleError: ['the car did not carry it out', 'das Auto hat es nicht ausgeführt', 'la voiture ne l’a pas exécutée'],
  WrongCommand: ['wrong command', 'falscher Befehl', 'commande erronée'],
  VehicleConnectionTimeout: [
    'the car did not answer in time',
    'das Auto hat nicht rechtzeitig geantwortet',
    'la voiture n’a pas répondu à temps',
  ],
  MissingRights: ['not allowed', 'nicht erlaubt', 'non autorisée'],
  NotPossibleDueToVehicleBatteryLevel: ['a battery is too low', 'eine Batterie ist zu schwach', 'batterie trop faible'],
  NotPossibleDueToVehiclePrivacyLevel: [
    'the driver hides what it needs',
    'der Fahrer verbirgt nötige Werte',
    'le conducteur masque des valeurs nécessaires',
  ],
  TooManyWakeUpsOverMonth: ['woken too often this month', 'diesen Monat zu oft geweckt', 'trop de réveils ce mois-ci'],
  TooManyRequestInShortTime: [
    'too many commands in a short time',
    'zu viele Befehle in kurzer Zeit',
    'trop de commandes en peu de temps',
  ],
  SameActionInProgress: ['the same is in progress', 'dasselbe läuft schon', 'la même action est en cours'],
  NotPossibleDueToVehicleStolenState: [
    'not possible in this state of theft',
    'in diesem Diebstahlzustand nicht möglich',
    'impossible dans cet état de vol',
  ],
  VehicleInUse: ['the car is in use', 'das Auto wird benutzt', 'la voiture est utilisée'],
  TooManyRequestSent: ['too many commands today', 'zu viele Befehle heute', 'trop de commandes aujourd’hui'],
  DoorsOpen: ['a door or window is open', 'eine Tür oder ein Fenster ist offen', 'une porte ou une vitre est ouverte'],
  VehicleErrorOrCidInside: [
    'not carried out, perhaps a key is inside',
    'nicht ausgeführt, vielleicht liegt ein Schlüssel im Auto',
    'non exécutée, une clé est peut-être à l’intérieur',
  ],
  CidInside: ['a key is inside', 'ein Schlüssel liegt im Auto', 'une clé est à l’intérieur'],
  ExternalChargingSystemError: [
    'the charging station gives no power',
    'die Ladestation liefert keinen Strom',
    'la borne ne fournit pas de courant',
  ],
  VehicleChargingSystemError: [
    'the car reports a charging fault',
    'das Auto meldet einen Ladefehler',
    'la voiture signale un défaut de recharge',
  ],
  VehicleIsNotLocked: ['the car is not locked', 'das Auto ist nicht verriegelt', 'la voiture n’est pas verrouillée'],
  CanceledByDriver: ['ended by the driver', 'vom Fahrer beendet', 'interrompue par le conducteur'],
};
