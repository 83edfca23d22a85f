/** Texts for people for the named values of records other than Status. */
import type { alertSeverities } from '../schema/alert.ts';
import type { CollisionSeverity, CollisionSide } from '../schema/collision.ts';
import type { FaultGroup, FaultStatus } from '../schema/fault.ts';
import type { RecordKind } from '../schema/kind.ts';
import type { Theft } from '../schema/theft.ts';
import type { Terms } from './languages.ts';

export const recordWords: Terms<RecordKind | 'event'> = {
  trip: ['Trip', 'Fahrt', 'Trajet'],
  alert: ['Warning', 'Warnung', 'Alerte'],
  collision: ['Collision', 'Kollision', 'Collision'],
  maintenance: ['Service', 'Wartung', 'Entretien'],
  alarm: ['Alarm', 'Alarm', 'Alarme'],
  stolen: ['Theft', 'Diebstahl', 'Vol'],
  event: ['Monitor event', 'Ereignis eines Monitors', 'Événement d’un moniteur'],
  fault: ['Fault code', 'Fehlercode', 'Code de défaut'],
};

export const alertSeverityWords: Terms<(typeof alertSeverities)[number]> = {
  Information: ['for information', 'zur Information', 'pour information'],
  Warning: ['serious', 'ernst', 'sérieuse'],
  Critical: ['critical', 'kritisch', 'critique'],
};

export const collisionSideWords: Terms<CollisionSide> = {
  Front: ['at the front', 'vorn', 'à l’avant'],
  Rear: ['at the rear', 'hinten', 'à l’arrière'],
  Lateral: ['at the side', 'seitlich', 'sur le côté'],
};

export const collisionSeverityWords: Terms<CollisionSeverity> = {
  Minimal: ['light, no safety system fired', 'leicht, kein Schutzsystem ausgelöst', 'légère, aucune protection'],
  Minor: ['moderate, belts tightened', 'mittel, Gurte gestrafft', 'modérée, ceintures tendues'],
  Major: ['severe, airbags fired', 'schwer, Airbags ausgelöst', 'grave, airbags déclenchés'],
};

export const theftWords: Terms<NonNullable<Theft['origin']>> = {
  Declared: ['declared stolen', 'als gestohlen gemeldet', 'déclarée volée'],
  Alarm: ['driven away after an alarm', 'nach einem Alarm weggefahren', 'emportée après une alarme'],
};

export const faultGroupWords: Terms<FaultGroup> = {
  Powertrain: ['engine and gearbox', 'Motor und Getriebe', 'moteur et boîte'],
  Chassis: ['brakes and steering', 'Fahrwerk', 'châssis'],
  Body: ['body and comfort', 'Karosserie', 'carrosserie'],
  Network: ['on-board network', 'Bordnetzwerk', 'réseau de bord'],
};

export const faultStatusWords: Terms<FaultStatus> = {
  Stored: ['confirmed', 'bestätigt', 'confirmé'],
  Pending: ['not confirmed yet', 'noch nicht bestätigt', 'pas encore confirmé'],
  Permanent: ['cannot be cleared', 'nicht löschbar', 'non effaçable'],
  TestFailed: ['last test failed', 'letzter Test fehlgeschlagen', 'dernier test échoué'],
  TestFailedThisCycle: ['failed on this drive', 'auf dieser Fahrt fehlgeschlagen', 'échoué sur ce trajet'],
  TestNotCompletedSinceClear: [
    'not tested since it was cleared',
    'seit dem Löschen nicht geprüft',
    'non testé depuis l’effacement',
  ],
  TestFailedSinceClear: [
    'failed since it was cleared',
    'seit dem Löschen fehlgeschlagen',
    'échoué depuis l’effacement',
  ],
  TestNotCompletedThisCycle: ['not tested on this drive', 'auf dieser Fahrt nicht geprüft', 'non testé sur ce trajet'],
  WarningIndicator: ['warning lamp lit', 'Warnlampe leuchtet', 'voyant allumé'],
};
