/**
 * Texts for people for each path of Status and for each value with a name. Names of paths are capitalized;
 * values are used within a sentence or after a name. The interface has some French abbreviations (artiv, rvv).
 */
import type { StatusPaths } from '../generated/status-paths.ts';
import type { Terms, Wording } from './languages.ts';

/** Names of the values of a type; numbers, strings, instants and structures have no names. */
type ValueName<V> = [V] extends [boolean]
  ? 'true' | 'false'
  : V extends readonly (infer N extends string)[]
    ? N
    : V extends string
      ? string extends V
        ? never
        : V
      : never;

type PathWords<V> = [ValueName<V>] extends [never]
  ? readonly [name: Wording]
  : readonly [name: Wording, values: Terms<ValueName<V>>];

const yesNo = { true: ['yes', 'ja', 'oui'], false: ['no', 'nein', 'non'] } as const;
const onOff = { true: ['on', 'an', 'en marche'], false: ['off', 'aus', 'à l’arrêt'] } as const;
const lamp = { Off: ['off', 'aus', 'éteint'], On: ['on', 'an', 'allumé'] } as const;
const opening = { Open: ['open', 'offen', 'ouvert'], Closed: ['closed', 'geschlossen', 'fermé'] } as const;
const belt = {
  Normal: ['fastened, or seat empty', 'angelegt oder Sitz leer', 'bouclée, ou siège vide'],
  Omission: ['not fastened', 'nicht angelegt', 'non bouclée'],
} as const;
const running = {
  NotRunning: ['not running', 'nicht in Betrieb', 'hors service'],
  Starting: ['starting', 'startet', 'démarre'],
  Running: ['running', 'läuft', 'tourne'],
  Stopping: ['stopping', 'hält an', 's’arrête'],
  Stopped: ['stopped', 'steht', 'arrêté'],
} as const;
const subType = {
  FossilEnergy: ['fossil fuel', 'fossiler Kraftstoff', 'carburant fossile'],
  ElectricEnergy: ['electricity', 'Strom', 'électricité'],
  Hydrogen: ['hydrogen', 'Wasserstoff', 'hydrogène'],
} as const;
const laneKeeping = {
  Authorized: ['ready', 'bereit', 'prêt'],
  CorrectionInProgress: ['steering', 'lenkt', 'corrige'],
  NotAuthorized: ['not available', 'nicht verfügbar', 'non disponible'],
  NotSelected: ['off', 'aus', 'désactivé'],
} as const;
const parkingAid = {
  Fault: ['fault', 'Störung', 'défaut'],
  DriverInhibition: ['switched off by the driver', 'vom Fahrer abgeschaltet', 'coupée par le conducteur'],
  Active: ['on', 'an', 'active'],
  Wait: ['waiting', 'wartet', 'en attente'],
  OutOfService: ['out of service', 'außer Betrieb', 'hors service'],
} as const;

export const statusWords = {
  'kinetic.speed': [['Speed', 'Geschwindigkeit', 'Vitesse']],
  'kinetic.acceleration': [['Acceleration', 'Beschleunigung', 'Accélération']],
  'kinetic.moving': [
    ['Motion', 'Bewegung', 'Mouvement'],
    { true: ['moving', 'fährt', 'roule'], false: ['standing still', 'steht still', 'à l’arrêt'] },
  ],
  'lastPosition.longitude': [['Longitude', 'Längengrad', 'Longitude']],
  'lastPosition.latitude': [['Latitude', 'Breitengrad', 'Latitude']],
  'lastPosition.altitude': [['Altitude', 'Höhe', 'Altitude']],
  'lastPosition.heading': [['Heading', 'Fahrtrichtung', 'Cap']],
  'lastPosition.signalQuality': [['Satellite reception', 'Satellitenempfang', 'Réception des satellites']],
  'lastPosition.type': [
    ['Source of the position', 'Herkunft der Position', 'Origine de la position'],
    { Estimated: ['estimated', 'geschätzt', 'estimée'], Acquire: ['measured', 'gemessen', 'mesurée'] },
  ],
  'lastPosition.fixStatus': [
    ['Position fix', 'Positionsbestimmung', 'Point de position'],
    {
      '2D': ['without altitude (2D)', 'ohne Höhe (2D)', 'sans altitude (2D)'],
      '3D': ['with altitude (3D)', 'mit Höhe (3D)', 'avec altitude (3D)'],
    },
  ],
  'engines.Thermic.speed': [['Engine speed', 'Motordrehzahl', 'Régime du moteur']],
  'engines.Thermic.extension.thermic.coolant.temp': [
    ['Coolant temperature', 'Kühlmitteltemperatur', 'Température du liquide de refroidissement'],
  ],
  'engines.Thermic.extension.thermic.coolant.level': [
    ['Coolant level', 'Kühlmittelstand', 'Niveau du liquide de refroidissement'],
  ],
  'engines.Thermic.extension.thermic.oil.temp': [['Oil temperature', 'Öltemperatur', 'Température d’huile']],
  'engines.Thermic.extension.thermic.oil.level': [['Oil level', 'Ölstand', 'Niveau d’huile']],
  'engines.Thermic.extension.thermic.air.temp': [
    ['Intake air temperature', 'Ansauglufttemperatur', 'Température de l’air d’admission'],
  ],
  'engines.Thermic.gmpStatus': [['Engine', 'Verbrennungsmotor', 'Moteur thermique'], running],
  'engines.Electric.speed': [['Electric motor speed', 'Drehzahl des Elektromotors', 'Régime du moteur électrique']],
  'engines.Electric.gmpStatus': [['Electric motor', 'Elektromotor', 'Moteur électrique'], running],
  'energies.Fuel.level': [['Fuel level', 'Kraftstoffstand', 'Niveau de carburant']],
  'energies.Fuel.autonomy': [['Range on fuel', 'Reichweite mit Kraftstoff', 'Autonomie en carburant']],
  'energies.Fuel.extension.fuel.consumptions.total': [
    ['Fuel used in total', 'Kraftstoffverbrauch insgesamt', 'Consommation totale de carburant'],
  ],
  'energies.Fuel.extension.fuel.consumptions.instant': [
    ['Fuel consumption now', 'Momentaner Kraftstoffverbrauch', 'Consommation instantanée de carburant'],
  ],
  'energies.Fuel.subType': [['Kind of fuel', 'Kraftstoffart', 'Type de carburant'], subType],
  'energies.Electric.level': [['Battery level', 'Batterieladung', 'Charge de la batterie']],
  'energies.Electric.autonomy': [['Electric range', 'Elektrische Reichweite', 'Autonomie électrique']],
  'energies.Electric.extension.electric.charging.plugged': [
    ['Charging cable', 'Ladekabel', 'Câble de charge'],
    { true: ['plugged in', 'eingesteckt', 'branché'], false: ['not plugged in', 'nicht eingesteckt', 'non branché'] },
  ],
  'energies.Electric.extension.electric.charging.status': [
    ['Charging', 'Ladevorgang', 'Recharge'],
    {
      Disconnected: ['no cable', 'kein Kabel', 'pas de câble'],
      InProgress: ['charging', 'lädt', 'en cours'],
      Failure: ['failed', 'fehlgeschlagen', 'échouée'],
      Stopped: ['stopped', 'angehalten', 'arrêtée'],
      Finished: ['finished', 'beendet', 'terminée'],
    },
  ],
  'energies.Electric.extension.electric.charging.chargingRate': [
    ['Range gained by charging', 'Geladene Reichweite', 'Autonomie gagnée'],
  ],
  'energies.Electric.extension.electric.charging.remainingTime': [
    ['Charging time left', 'Verbleibende Ladezeit', 'Temps de recharge restant'],
  ],
  'energies.Electric.extension.electric.charging.chargingMode': [
    ['Kind of charging', 'Ladeart', 'Mode de recharge'],
    {
      No: ['not charging', 'lädt nicht', 'pas de recharge'],
      Slow: ['slow (alternating current)', 'langsam (Wechselstrom)', 'lente (courant alternatif)'],
      Quick: ['fast (direct current)', 'schnell (Gleichstrom)', 'rapide (courant continu)'],
    },
  ],
  'energies.Electric.extension.electric.charging.chargingPowerLevel': [
    ['Preferred charging power', 'Bevorzugte Ladeleistung', 'Puissance de recharge préférée'],
    {
      Level1: ['level 1 of 5', 'Stufe 1 von 5', 'niveau 1 sur 5'],
      Level2: ['level 2 of 5', 'Stufe 2 von 5', 'niveau 2 sur 5'],
      Level3: ['level 3 of 5', 'Stufe 3 von 5', 'niveau 3 sur 5'],
      Level4: ['level 4 of 5', 'Stufe 4 von 5', 'niveau 4 sur 5'],
      Level5: ['level 5 of 5', 'Stufe 5 von 5', 'niveau 5 sur 5'],
    },
  ],
  'energies.Electric.extension.electric.charging.nextDelayedTime': [
    ['Next delayed charging', 'Nächstes verzögertes Laden', 'Prochaine recharge différée'],
  ],
  'energies.Electric.extension.electric.charging.type': [
    ['Charging limit', 'Ladegrenze', 'Limite de recharge'],
    { Partial: ['partly full', 'teilweise voll', 'partielle'], Full: ['full', 'voll', 'complète'] },
  ],
  'energies.Electric.extension.electric.charging.schedule.programs': [
    ['Charging programs', 'Ladeprogramme', 'Programmes de recharge'],
  ],
  'energies.Electric.extension.electric.battery.load.residual': [
    ['Energy in the battery', 'Energie in der Batterie', 'Énergie dans la batterie'],
  ],
  'energies.Electric.extension.electric.battery.load.capacity': [
    ['Battery capacity', 'Batteriekapazität', 'Capacité de la batterie'],
  ],
  'energies.Electric.extension.electric.battery.health.capacity': [
    ['Battery health', 'Zustand der Batterie', 'Santé de la batterie'],
  ],
  'energies.Electric.extension.electric.battery.health.resistance': [
    ['Battery health by resistance', 'Zustand der Batterie nach Widerstand', 'Santé de la batterie par résistance'],
  ],
  'energies.Electric.extension.electric.consumption.consumption': [
    ['Electric consumption', 'Stromverbrauch', 'Consommation électrique'],
  ],
  'energies.Electric.subType': [['Kind of electric energy', 'Art der Antriebsenergie', 'Type d’énergie'], subType],
  'odometer.mileage': [['Odometer', 'Kilometerstand', 'Kilométrage']],
  'environment.air.temp': [['Outside temperature', 'Außentemperatur', 'Température extérieure']],
  'environment.luminosity.day': [
    ['Light outside', 'Licht draußen', 'Lumière extérieure'],
    { true: ['day', 'Tag', 'jour'], false: ['night', 'Nacht', 'nuit'] },
  ],
  'transmission.gearbox.ratio': [
    ['Gear', 'Gang', 'Rapport'],
    {
      Ratio1: ['1st gear', '1. Gang', '1re'],
      Ratio2: ['2nd gear', '2. Gang', '2e'],
      Ratio3: ['3rd gear', '3. Gang', '3e'],
      Ratio4: ['4th gear', '4. Gang', '4e'],
      Ratio5: ['5th gear', '5. Gang', '5e'],
      Ratio6: ['6th gear', '6. Gang', '6e'],
      Ratio7: ['7th gear', '7. Gang', '7e'],
      Ratio8: ['8th gear', '8. Gang', '8e'],
      Neutral: ['neutral', 'Leerlauf', 'point mort'],
      Reverse: ['reverse', 'Rückwärtsgang', 'marche arrière'],
    },
  ],
  'transmission.gearbox.mode.automatic': [['Automatic gearbox', 'Automatikgetriebe', 'Boîte automatique'], onOff],
  'transmission.gearbox.mode.sport': [['Sport gear mode', 'Sportschaltung', 'Mode sport de la boîte'], onOff],
  'transmission.gearbox.mode.snow': [['Snow gear mode', 'Winterschaltung', 'Mode neige de la boîte'], onOff],
  'transmission.gearbox.mode.sequential': [
    ['Sequential gear mode', 'Sequenzielle Schaltung', 'Mode séquentiel de la boîte'],
    onOff,
  ],
  'transmission.gearbox.mode.semiManual': [
    ['Semi-manual gear mode', 'Halbautomatische Schaltung', 'Mode semi-manuel de la boîte'],
    onOff,
  ],
  'powertrain.status': [['Drive', 'Antrieb', 'Motorisation'], running],
  'ignition.type': [
    ['Ignition', 'Zündung', 'Contact'],
    {
      Stop: ['off', 'aus', 'coupé'],
      StartUp: ['on', 'an', 'mis'],
      Start: ['started', 'Motor gestartet', 'moteur démarré'],
    },
  ],
  'doorsState.lockedStates': [
    ['Locks', 'Schlösser', 'Serrures'],
    {
      Unlocked: ['unlocked', 'entriegelt', 'déverrouillées'],
      Locked: ['locked', 'verriegelt', 'verrouillées'],
      SuperLocked: ['deadlocked', 'doppelt verriegelt', 'super-verrouillées'],
      DriverDoorUnlocked: ['driver’s door unlocked', 'Fahrertür entriegelt', 'porte conducteur déverrouillée'],
      CabinDoorsUnlocked: ['cabin doors unlocked', 'Türen vorn entriegelt', 'portes de l’habitacle déverrouillées'],
      CargoDoorsLocked: ['cargo doors locked', 'Laderaum verriegelt', 'portes de charge verrouillées'],
      CargoDoorsUnlocked: ['cargo doors unlocked', 'Laderaum entriegelt', 'portes de charge déverrouillées'],
      RearDoorsUnlocked: ['rear doors unlocked', 'Türen hinten entriegelt', 'portes arrière déverrouillées'],
      RearDoorsLocked: ['rear doors locked', 'Türen hinten verriegelt', 'portes arrière verrouillées'],
      TrunkLocked: ['boot locked', 'Kofferraum verriegelt', 'coffre verrouillé'],
      TrunkUnLocked: ['boot unlocked', 'Kofferraum entriegelt', 'coffre déverrouillé'],
    },
  ],
  'doorsState.opening.Driver.state': [['Driver’s door', 'Fahrertür', 'Porte conducteur'], opening],
  'doorsState.opening.Passenger.state': [['Passenger’s door', 'Beifahrertür', 'Porte passager'], opening],
  'doorsState.opening.RearLeft.state': [['Rear left door', 'Tür hinten links', 'Porte arrière gauche'], opening],
  'doorsState.opening.RearRight.state': [['Rear right door', 'Tür hinten rechts', 'Porte arrière droite'], opening],
  'doorsState.opening.Trunk.state': [['Boot', 'Kofferraum', 'Coffre'], opening],
  'doorsState.opening.RearWindow.state': [['Rear window', 'Heckscheibe', 'Lunette arrière'], opening],
  'doorsState.opening.RoofWindow.state': [['Roof window', 'Schiebedach', 'Toit ouvrant'], opening],
  'safety.beltStatus.Driver.belt': [['Driver’s seat belt', 'Gurt des Fahrers', 'Ceinture du conducteur'], belt],
  'safety.beltStatus.Passenger.belt': [['Passenger’s seat belt', 'Gurt des Beifahrers', 'Ceinture du passager'], belt],
  'safety.autoECallTriggering': [
    ['Automatic emergency call', 'Automatischer Notruf', 'Appel d’urgence automatique'],
    {
      NotDetected: ['no shock', 'kein Aufprall', 'pas de choc'],
      Detected: ['shock detected', 'Aufprall erkannt', 'choc détecté'],
      ShockDetectionUnabled: ['does not detect shocks', 'erkennt keinen Aufprall', 'ne détecte pas les chocs'],
    },
  ],
  'lightingSystem.turn.LeftFront.status': [
    ['Front left indicator', 'Blinker vorn links', 'Clignotant avant gauche'],
    lamp,
  ],
  'lightingSystem.turn.LeftRear.status': [
    ['Rear left indicator', 'Blinker hinten links', 'Clignotant arrière gauche'],
    lamp,
  ],
  'lightingSystem.turn.RightFront.status': [
    ['Front right indicator', 'Blinker vorn rechts', 'Clignotant avant droit'],
    lamp,
  ],
  'lightingSystem.turn.RightRear.status': [
    ['Rear right indicator', 'Blinker hinten rechts', 'Clignotant arrière droit'],
    lamp,
  ],
  'lightingSystem.fog.LeftFront.status': [
    ['Front left fog light', 'Nebelleuchte vorn links', 'Antibrouillard avant gauche'],
    lamp,
  ],
  'lightingSystem.fog.LeftRear.status': [
    ['Rear left fog light', 'Nebelleuchte hinten links', 'Antibrouillard arrière gauche'],
    lamp,
  ],
  'lightingSystem.fog.RightFront.status': [
    ['Front right fog light', 'Nebelleuchte vorn rechts', 'Antibrouillard avant droit'],
    lamp,
  ],
  'lightingSystem.fog.RightRear.status': [
    ['Rear right fog light', 'Nebelleuchte hinten rechts', 'Antibrouillard arrière droit'],
    lamp,
  ],
  'wipingBlades.active': [['Wipers', 'Scheibenwischer', 'Essuie-glaces'], onOff],
  'wipingBlades.speed': [
    ['Wiper speed', 'Wischergeschwindigkeit', 'Vitesse des essuie-glaces'],
    { High: ['fast', 'schnell', 'rapide'], Low: ['slow', 'langsam', 'lente'] },
  ],
  'adas.accr': [
    ['Adaptive cruise control', 'Abstandstempomat', 'Régulateur adaptatif'],
    {
      Activated: ['on', 'an', 'actif'],
      Fault: ['fault', 'Störung', 'défaut'],
      Hold: ['holding', 'hält', 'en maintien'],
      HoldWithOverSpeeding: ['holding, too fast', 'hält, zu schnell', 'en maintien, trop vite'],
      Off: ['off', 'aus', 'désactivé'],
      OverSpeedingByPedalPress: ['driver accelerates', 'Fahrer gibt Gas', 'le conducteur accélère'],
      StandBy: ['standby', 'Bereitschaft', 'en veille'],
    },
  ],
  'adas.sli': [['Speed limit', 'Tempolimit', 'Limite de vitesse']],
  'adas.rlka': [['Lane keeping, right', 'Spurhalten rechts', 'Maintien dans la voie, à droite'], laneKeeping],
  'adas.llka': [['Lane keeping, left', 'Spurhalten links', 'Maintien dans la voie, à gauche'], laneKeeping],
  'adas.rgi': [
    ['Gear advice', 'Schaltempfehlung', 'Conseil de rapport'],
    {
      None: ['no advice', 'keine', 'aucun'],
      Up: ['shift up', 'hochschalten', 'monter'],
      Down: ['shift down', 'herunterschalten', 'rétrograder'],
      UpDown: ['shift up or down', 'hoch- oder herunterschalten', 'monter ou rétrograder'],
    },
  ],
  'adas.parkAssist.front': [['Parking aid, front', 'Einparkhilfe vorn', 'Aide au stationnement avant'], parkingAid],
  'adas.parkAssist.rear': [
    ['Parking aid, rear', 'Einparkhilfe hinten', 'Aide au stationnement arrière'],
    {
      ...parkingAid,
      TrailerInhibition: ['off because of a trailer', 'wegen Anhänger abgeschaltet', 'coupée par la remorque'],
    },
  ],
  'adas.lvv': [['Speed limiter', 'Geschwindigkeitsbegrenzer', 'Limiteur de vitesse'], onOff],
  'adas.rvv': [
    ['Cruise control', 'Tempomat', 'Régulateur de vitesse'],
    {
      Off: ['off', 'aus', 'désactivé'],
      NoBestFit: ['on, no speed matched', 'an, keine Anpassung', 'actif, sans ajustement'],
      BestFitInProgress: ['matching the speed', 'passt das Tempo an', 'ajuste la vitesse'],
      BestFitMax: ['matched, at the maximum', 'angepasst, am Maximum', 'ajusté au maximum'],
      BestFitMin: ['matched, at the minimum', 'angepasst, am Minimum', 'ajusté au minimum'],
      BestFitDeactivated: ['matching off', 'Anpassung aus', 'ajustement désactivé'],
      AutoDeactivated: ['switched itself off', 'hat sich abgeschaltet', 's’est désactivé'],
      OverflowSpeedConsign: ['above the set speed', 'über dem gesetzten Tempo', 'au-dessus de la consigne'],
      LackOfVisibilityRadar: ['radar cannot see', 'Radar ohne Sicht', 'radar sans visibilité'],
      LearningRadar: ['radar calibrates', 'Radar wird eingestellt', 'radar en calibrage'],
      Deactivated: ['deactivated', 'abgeschaltet', 'coupé'],
      LimitSetting: ['setting a limit', 'Limit wird gesetzt', 'réglage de la limite'],
    },
  ],
  'adas.aebs': [
    ['Emergency braking lamp', 'Lampe des Notbremsassistenten', 'Témoin du freinage d’urgence'],
    {
      Off: ['off', 'aus', 'éteint'],
      Fixed: ['lit', 'leuchtet', 'allumé'],
      OnFlashing: ['flashing', 'blinkt', 'clignote'],
    },
  ],
  'adas.afil': [
    ['Lane departure lamp', 'Lampe der Spurverlassenswarnung', 'Témoin de franchissement de ligne'],
    {
      FlashingFault: ['flashing: fault', 'blinkt: Störung', 'clignote : défaut'],
      FlashingWarning: ['flashing: leaves the lane', 'blinkt: verlässt die Spur', 'clignote : sort de la voie'],
      Off: ['off', 'aus', 'éteint'],
      OnFixed: ['lit', 'leuchtet', 'allumé'],
    },
  ],
  'adas.artiv': [
    ['Distance to the car in front', 'Abstand zum Vordermann', 'Distance au véhicule précédent'],
    {
      NotSelected: ['not watched', 'nicht überwacht', 'non surveillée'],
      Selected: ['watched', 'überwacht', 'surveillée'],
      Unavailable: ['not available', 'nicht verfügbar', 'non disponible'],
    },
  ],
  'adas.bsm': [
    ['Blind-spot monitor', 'Totwinkelwarner', 'Surveillance d’angle mort'],
    {
      Active: ['on', 'an', 'active'],
      Inactive: ['idle', 'untätig', 'inactive'],
      Disabled: ['off', 'aus', 'désactivée'],
      Fault: ['fault', 'Störung', 'défaut'],
    },
  ],
  'adas.esp': [
    ['Stability control', 'Stabilitätskontrolle', 'Contrôle de stabilité'],
    { true: ['intervening', 'greift ein', 'intervient'], false: ['idle', 'greift nicht ein', 'n’intervient pas'] },
  ],
  'adas.abs': [
    ['Anti-lock brakes', 'Antiblockiersystem', 'Antiblocage des roues'],
    { true: ['intervening', 'greift ein', 'intervient'], false: ['idle', 'greift nicht ein', 'n’intervient pas'] },
  ],
  'adas.fse': [['Electric parking brake', 'Elektrische Parkbremse', 'Frein de stationnement électrique'], onOff],
  'drivingBehavior.mode': [
    ['Driving mode', 'Fahrmodus', 'Mode de conduite'],
    {
      Normal: ['normal', 'normal', 'normal'],
      Sport: ['sport', 'sportlich', 'sport'],
      Comfort: ['comfort', 'komfortabel', 'confort'],
      Eco: ['economy', 'sparsam', 'éco'],
      Sand: ['on sand', 'auf Sand', 'sur sable'],
      Mud: ['in mud', 'auf Schlamm', 'dans la boue'],
      Snow: ['on snow', 'auf Schnee', 'sur neige'],
      ZEV: ['electric only', 'rein elektrisch', 'tout électrique'],
      Hybrid: ['hybrid', 'hybrid', 'hybride'],
      ZEVEco: ['electric only, economy', 'rein elektrisch, sparsam', 'tout électrique, éco'],
      HybridEco: ['hybrid, economy', 'hybrid, sparsam', 'hybride, éco'],
      EcoPlus: ['extra economy', 'besonders sparsam', 'éco renforcé'],
      eAWD: ['electric all-wheel drive', 'elektrischer Allradantrieb', 'transmission intégrale électrique'],
      '4AWD': ['four-wheel drive', 'Vierradantrieb', 'quatre roues motrices'],
      ReinforcedLoad: ['heavy load', 'schwere Last', 'charge lourde'],
    },
  ],
  'preconditioning.airConditioning.status': [
    ['Preconditioning', 'Vorklimatisierung', 'Préconditionnement'],
    {
      Enabled: ['on', 'an', 'actif'],
      Disabled: ['off', 'aus', 'désactivé'],
      Finished: ['finished', 'beendet', 'terminé'],
      Failure: ['failed', 'fehlgeschlagen', 'échoué'],
    },
  ],
  'preconditioning.airConditioning.startingCause': [
    ['Preconditioning started', 'Vorklimatisierung gestartet', 'Préconditionnement démarré'],
    {
      Immediate: ['at once', 'sofort', 'tout de suite'],
      Scheduled: ['by a program', 'durch Programm', 'par programme'],
    },
  ],
  'preconditioning.airConditioning.failureCause': [
    ['Preconditioning failed', 'Vorklimatisierung fehlgeschlagen', 'Échec du préconditionnement'],
    {
      Defect: ['defect', 'defekt', 'panne'],
      DoorOpened: ['a door is open', 'eine Tür ist offen', 'une porte est ouverte'],
      LowBattery: ['battery low', 'Batterie schwach', 'batterie faible'],
      LowFuelLevel: ['fuel low', 'Kraftstoff knapp', 'carburant bas'],
      TooManyUnusedProg: ['not used too often', 'zu oft ungenutzt', 'trop souvent inutilisé'],
      WindowsRoofOpened: ['a window or the roof is open', 'Fenster oder Dach offen', 'une vitre ou le toit est ouvert'],
      HoodOpened: ['the bonnet is open', 'die Motorhaube ist offen', 'le capot est ouvert'],
      NotParked: ['the car is not parked', 'das Auto parkt nicht', 'la voiture n’est pas garée'],
      OtherFailures: ['another fault', 'andere Störung', 'autre défaut'],
    },
  ],
  'preconditioning.airConditioning.programs': [
    ['Preconditioning programs', 'Klimaprogramme', 'Programmes de préconditionnement'],
  ],
  'battery.voltage': [['12 V battery', '12-V-Batterie', 'Batterie 12 V']],
  'privacy.state': [
    ['Privacy', 'Privatsphäre', 'Confidentialité'],
    {
      None: ['nothing hidden', 'nichts verborgen', 'rien de masqué'],
      Geolocation: ['position hidden', 'Position verborgen', 'position masquée'],
      Full: ['everything hidden', 'alles verborgen', 'tout est masqué'],
    },
  ],
  'alarm.status.activation': [
    ['Alarm', 'Alarmanlage', 'Alarme'],
    { Inactive: ['disarmed', 'entschärft', 'désarmée'], Active: ['armed', 'scharf', 'armée'] },
  ],
  'alarm.trigger.type': [
    ['Cause of the alarm', 'Auslöser des Alarms', 'Cause de l’alarme'],
    {
      NoBreakIn: ['no break-in', 'kein Einbruch', 'aucune effraction'],
      FrontRightDoorBreakIn: [
        'front right door broken open',
        'Tür vorn rechts aufgebrochen',
        'porte avant droite forcée',
      ],
      FrontLeftDoorBreakIn: ['front left door broken open', 'Tür vorn links aufgebrochen', 'porte avant gauche forcée'],
      RearRightFrontDoorBreakIn: [
        'rear right door broken open',
        'Tür hinten rechts aufgebrochen',
        'porte arrière droite forcée',
      ],
      RearLeftFrontDoorBreakIn: [
        'rear left door broken open',
        'Tür hinten links aufgebrochen',
        'porte arrière gauche forcée',
      ],
      HoodDoorBreakIn: ['bonnet broken open', 'Motorhaube aufgebrochen', 'capot forcé'],
      TrunkDoorBreakIn: ['boot broken open', 'Kofferraum aufgebrochen', 'coffre forcé'],
      BackliteDoorBreakIn: ['rear window broken open', 'Heckscheibe aufgebrochen', 'lunette arrière forcée'],
      RoofBreakIn: ['roof broken open', 'Dach aufgebrochen', 'toit forcé'],
      VolumetricBreakIn: ['somebody inside', 'jemand im Innenraum', 'quelqu’un à l’intérieur'],
      VehicleLifting: ['car lifted', 'Auto angehoben', 'voiture soulevée'],
      ElectricalsystemBreakIn: ['electrics tampered with', 'Elektrik manipuliert', 'circuit électrique manipulé'],
      KeyLearning: ['a new key was taught', 'neuer Schlüssel angelernt', 'nouvelle clé apprise'],
      UnauthenticatedStartup: ['started without a key', 'ohne Schlüssel gestartet', 'démarrée sans clé'],
    },
  ],
  'alarm.trigger.startAt': [['Time of the alarm', 'Zeit des Alarms', 'Heure de l’alarme']],
  'alarm.trigger.position': [['Place of the alarm', 'Ort des Alarms', 'Lieu de l’alarme']],
  'stolen.state': [['Counts as stolen', 'Gilt als gestohlen', 'Considérée comme volée'], yesNo],
  'stolen.id': [['Number of the theft', 'Nummer des Diebstahls', 'Numéro du vol']],
  'stolen.startedAt': [['Start of the theft', 'Beginn des Diebstahls', 'Début du vol']],
  'stolen.endAt': [['End of the theft', 'Ende des Diebstahls', 'Fin du vol']],
  'stolen.startPosition': [['Place of the theft', 'Ort des Diebstahls', 'Lieu du vol']],
  'stolen.endPosition': [['Place where it was found', 'Fundort', 'Lieu où elle a été retrouvée']],
  'service.type': [
    ['Kind of service contract', 'Art des Servicevertrags', 'Type de contrat de service'],
    {
      Electric: ['electric', 'elektrisch', 'électrique'],
      Hybrid: ['hybrid', 'hybrid', 'hybride'],
      Unknown: ['unknown', 'unbekannt', 'inconnu'],
    },
  ],
} as const satisfies { readonly [P in keyof StatusPaths]: PathWords<StatusPaths[P]> };
