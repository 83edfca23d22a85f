/**
 * Words in names of signals and of values, with their meanings. English, French and German words and abbreviations as
 * used by manufacturers of cars and control units. A word may have several meanings; `parking-brake` means two
 * consecutive words. Words of one or two letters count only as separate words.
 */

/** Words by meaning. */
const measures = {
  speed:
    'speed spd velocity vel vitesse vit geschwindigkeit geschw gschw vss vs v kph kmh mph speedo speedometer tacho',
  rotation: 'motor-drehzahl motor-drehz regime-mot n-mot rpm revs drehzahl drehz regime rotation n nmot tachometer',
  temperature: 'temperature temp temperatur tmp te t out-temp temp-out',
  level:
    'level lvl niveau niv fuellstand stand fill gauge percent pct prozent content inhalt remaining residual restant',
  odometer:
    'odometer odo mileage kilometerstand kmstand kilometrage gesamtkilometer totalizer total-distance tot-dist tot-dst ' +
    'distance-total total-km km-total distance-totale',
  autonomy:
    'range autonomy autonomie reichweite dte distance-to-empty dist-to-empty restreichweite remaining-range ' +
    'range-remaining remaining-distance',
  consumption: 'consumption cons conso consommation verbrauch economy',
  instant: 'instant instantaneous inst instantanee instantane momentan momentary',
  acceleration: 'acceleration accel beschleunigung beschl a long-acc lng-acc acc-long',
  longitudinal: 'longitudinal long longi lng laengs longit long-acc lng-acc acc-long',
  lateral: 'lateral lat quer transversal lat-acc acc-lat',
  vertical: 'vertical vert hochachse',
  charge: 'soc state-of-charge charge-state ladezustand charge-level etat-de-charge',
  health: 'soh state-of-health health',
  capacity: 'capacity capacite kapazitaet cap',
  energy: 'energy energie nrg',
  voltage: 'voltage volt spannung tension u',
  current: 'current amp amps strom courant',
  power: 'power leistung puissance pwr watt kw',
  torque: 'torque trq moment couple drehmoment tq mom',
  pressure: 'pressure press druck pression pres',
  angle: 'angle winkel ang lenkwinkel',
  rate: 'rate yaw gradient grad gier gierrate lacet roll pitch slip schlupf',
  time: 'time temps zeit timer duration dauer hour hours minute minutes second seconds sec clock date day month year',
  distance: 'distance dist weg way travel trip fahrstrecke strecke pulse pulses impuls imp ticks',
  percentage: 'ratio fraction factor percentage duty trim gain',
  load: 'load last charge-moteur throttle throttleposition drosselklappe papillon',
  latitude: 'latitude breite breitengrad',
  longitude: 'longitude laenge laengengrad',
  altitude: 'altitude hoehe elevation',
  heading: 'heading course bearing kurs cap-geo kompass compass',
  fix: 'fix',
  satellites: 'satellites satellite sats numsats',
  location: 'position location geolocation pos gps',
  accuracy: 'accuracy genauigkeit precision dop hdop pdop vdop',
} as const;

const parts = {
  vehicle: 'vehicle veh vhl vehicule fahrzeug fzg car vhcl vhc',
  engine:
    'motor-drehzahl motor-drehz regime-mot n-mot engine eng moteur crankshaft crank kurbelwelle ice thermic cmm combustion',
  motor: 'emotor e-motor motor mot electric-motor drive-unit elmotor emot mg emachine',
  coolant: 'coolant clnt cool kuehlmittel kuehlwasser ect refroidissement water wasser eau engine-coolant-temperature',
  oil: 'oil oel huile',
  intake: 'intake inlet iat ansaugluft ansaug admission intake-air inlet-air air-intake',
  air: 'air luft',
  outside: 'out-temp temp-out outside ambient aussen exterieur exterieure ext exterior outdoor amb env environment oat',
  inside: 'inside interior cabin innen innenraum interieur indoor incar habitacle cockpit',
  fuel: 'fuel carb carburant kraftstoff tank benzin gasoline reservoir',
  pedal: 'pedal pedale gaspedal fahrpedal accelerator app',
  gas: 'gas',
  battery: 'battery batt batterie bat accu akku pack',
  traction: 'bms hv trac traction highvoltage high-voltage hvb hvbat hochvolt hvbatt',
  auxiliary: 'lv aux auxiliary starter 12-v lowvoltage low-voltage bordnetz servitude',
  cell: 'cell zelle cellule module',
  charging: 'charging charge chg chrg chrgng lade laden recharge laden ladung',
  charger: 'charger obc lader ladegeraet chargeur',
  plug: 'plug plugged connector connected prise stecker inlet cable gun port unplugged',
  gear: 'gear gang gears rapport rap istgang fahrstufe gearposition',
  gearbox: 'gearbox gbx transmission trans getriebe boite tcu tcm gearshift',
  lever: 'lever selector shifter waehlhebel prnd prndl wahlhebel selection shift sel shft levier lvr',
  ratio: 'ratio rat',
  clutch: 'clutch kupplung embrayage clth kuppl',
  ignition: 'ignition ign zuendung cle schluessel key kl-15 klemme-15 terminal-15 key-position start-switch zas',
  contact: 'contact kontakt',
  powertrain: 'powertrain gmp antrieb propulsion drivetrain drive-train',
  door: 'dr door doors tuer tuerkontakt porte doorajar tuere tueren portes',
  trunk:
    'trunk tg boot tailgate liftgate coffre hatch heckklappe kofferraum heckdeckel decklid tgate luggage tail-gate lift-gate hayon',
  hood: 'hood bonnet capot motorhaube haube frontklappe',
  window: 'window fenster vitre scheibe wdw glass',
  rearwindow: 'rear-window backlite lunette heckscheibe tailgate-glass rear-glass',
  roof: 'roof sunroof toit dach verdeck schiebedach convertible moonroof',
  handle: 'handle griff tuergriff poignee',
  flap: 'flap cap klappe tankklappe trappe lid',
  seat: 'seat sitz siege occupant belegung occupancy',
  belt: 'belt seatbelt seat-belt gurt gurtschloss ceinture buckle sbelt safetybelt sicherheitsgurt',
  mirror: 'mirror spiegel retroviseur retro',
  wheel: 'wheel whl rad roue roues wheels rueckrad radgeschw',
  tyre: 'tire tyre pneu reifen tpms',
  axle: 'axle achse essieu shaft',
  brake: 'brake brk bremse frein brems braking bremsung freinage brakes',
  parkingbrake:
    'parking-brake park-brake parkbrake handbrake hand-brake epb handbremse feststellbremse parkingbrake prk-brk prkbrk ' +
    'frein-de-stationnement frein-stationnement frein-a-main frein-main hndbrk parkbrk pbrake',
  steering: 'steering steer lenk lenkrad volant direction strg lenkung eps',
  turn: 'turn blinker indicator clignotant cligno blinken turnsignal turn-signal blink turnlight turnlamp turnind',
  hazard: 'hazard warnblink warnblinker detresse hazards warnblinken',
  fog: 'fog nebel brouillard antibrouillard foglamp foglight',
  rearfog: 'nebelschluss nebelschlussleuchte nsl nebelschlusslicht',
  frontfog: 'nebelscheinwerfer nsw',
  headlight:
    'beam beams headlight headlights headlamp fernlicht abblendlicht scheinwerfer croisement drl tagfahrlicht brightness',
  wiper: 'wiper wipers wiping wischer essuie essuie-glace essuyage wipe wpr',
  washer: 'wash washer waschwasser lave waschen',
  horn: 'horn hupe klaxon avertisseur',
  alarm: 'alarm alarme diebstahlwarnanlage dwa antitheft',
  immobilizer: 'immobilizer immobiliser wegfahrsperre wfs antidemarrage immo',
  airbag: 'airbag airbags rueckhaltesystem srs',
  ice: 'ice frost glatteis verglas eis freezing',
  hold: 'hold autohold halten hillhold hhc hac hdc hill',
  row: 'row reihe rangee second-row third-row',
  crash: 'crash collision impact unfall choc accident',
  fan: 'fan luefter ventilateur blower geblaese',
  pump: 'pump pumpe pompe',
  compressor: 'compressor kompressor compresseur comp verdichter klimakompressor',
  turbine: 'turbo turbine turbocharger lader boost',
  climate:
    'hvac climate klima clim ac airco aircon heater heated heating heizbar heizbare beheizt heizung chauffage standheizung defrost evaporator',
  filter: 'filter filtre filtering',
  exhaust: 'exhaust abgas echappement dpf fap scr adblue urea egr catalyst kat nox',
  display: 'display dsply dsp anzeige anz affichage disp cluster dash kombi hud ic combine',
  lamp: 'lamp lamps light lights licht lampe leuchte leuchten feu feux bulb telltale voyant kontrollleuchte mil led tt lite licht ampoule',
  trailer: 'trailer anhaenger remorque towing ahg',
} as const;

const assistance = {
  stability: 'esp esc vdc vsc vsa dsc stability stab trajectory stabilite cds',
  antilock: 'abs antilock anti-lock antiblocage',
  tractioncontrol: 'tcs asr tc traction-control msr',
  cruise: 'cruise cruise-control tempomat gra regulateur rvv cc ccs speed-control',
  adaptive: 'adaptive acc artiv abstandsregelung adaptive-cruise-control distance-control smart-cruise scc',
  limiter: 'limiter limiteur lvv begrenzer speedlimiter speed-limiter asl limitation',
  speedlimit:
    'speed-limit speedlimit speed-limit-sign tempolimit limitation-vitesse tsr traffic-sign road-sign verkehrszeichen',
  lane: 'lane ldw lka lkas lda spur voie spurhalte lane-keep',
  blindspot: 'blindspot blind-spot bsm bsd bsw angle-mort totwinkel',
  parkassist: 'park-assist parkassist parkhilfe parking-aid park-aid pdc aide-stationnement',
  emergencybraking: 'aeb aebs autobrake emergency-braking notbremse notbremsung freinage-urgence',
  advice:
    'advice recommendation empfehlung schaltempfehlung conseil gsi shift-indicator recommended upshift-advice shift-advice',
  program: 'program programme programm mode modus prog drivemode drive-mode driving-mode fahrmodus fahrprogramm fahrpr',
  privacy: 'privacy confidentialite privatsphaere',
  day: 'day daylight jour tag daynight day-night',
  night: 'night nacht nuit',
  maintenance: 'maintenance service inspection revision wartung entretien vidange oilchange oil-change',
  lead: 'lead object target relative rel preceding vorausfahrend obj following cible gap leading',
} as const;

/** Adjectives: sides, states, and kinds of value. */
const states = {
  driver: 'dr driver drv fahrer conducteur cond drvr fa lhs drivers drs',
  passenger: 'passenger pass psgr beifahrer passager psngr codriver pas astp assist-side passengers bf ast psg',
  left: 'left links li gauche lh lft lt l',
  right: 'right rechts re droite droit rh rgt rght rt r',
  front: 'first-row front-row front vorne vorn avant frnt frt forward av vo',
  rear: 'rear hinten arriere back hi rer bck heck ar',
  frontleft: 'fl frontleft vl front-left avg left-front lf fln front-lh fntleft',
  frontright: 'fr frontright vr front-right avd right-front rf front-rh',
  rearleft: 'rl rearleft hl rear-left arg bl left-rear lr back-left rear-lh',
  rearright: 'rr rearright hr rear-right ard br right-rear back-right rear-rh',
  open: 'open offen ouvert opened ouverte ajar geoeffnet auf opening ouverture',
  closed: 'closed close shut ferme geschlossen zu fermee fully-closed',
  folded: 'folded away',
  locked: 'locked verriegelt verrouille gesperrt lkd',
  unlocked: 'unlocked entriegelt deverrouille un-locked unlkd',
  lock: 'lock locked verriegelt verrouille lck locks locking verriegelung verrouillage lockstatus zv lockst gesperrt lkd',
  unlock: 'unlock unlocked entriegelt deverrouille unlck un-locked unlkd deverrouillage entriegelung',
  superlock: 'dbl double superlocked deadlock deadlocked double-locked double-lock safe superlock safed',
  fastened: 'fastened latched buckled gesteckt attachee bouclee attache angelegt',
  unfastened: 'unfastened unlatched unbuckled unlatch detachee nicht-gesteckt not-buckled',
  forgotten: 'forgotten oubli reminder missing omission',
  fine: 'fine ok normal good',
  pressed: 'pressed depressed gedrueckt appuye actuated betaetigt',
  released: 'released release losgelassen relache geloest disengaged',
  engaged: 'engaged applied aktuell-fest engage serre tightened clamped',
  transit: 'engaging disengaging releasing applying opening-in-progress moving-up',
  on: 'on ein marche allume',
  off: 'off aus arret eteint',
  yes: 'yes true ja oui wahr vrai',
  no: 'no false nein non faux',
  none: 'none nothing keine aucun aucune neither',
  everything: 'everything full all complete',
  both: 'both beide deux',
  active:
    'active actv aktiv activ activated intervenes intervening intervention intv eingriff regulating aktiviert intervene actif active-state',
  armed: 'armed scharf arme',
  disarmed: 'disarmed unscharf desarme',
  inactive: 'inactive inaktiv inactif deactivated passiv idle',
  standby: 'standby stby waiting wait bereit ready attente',
  moving: 'moving movement motion mvt fahrt rolling mouvement driving faehrt roulage',
  standing: 'standing standstill stillstand stationary immobile stopped-vehicle stand-still arrete halt',
  running: 'running runs laeuft tournant engine-on',
  run: 'run',
  starting: 'kl-50 klemme-50 starting starts demarrage restarting cranking anlassen restart',
  stopped: 'stopped stop autostopped stehend auto-stop stalled',
  stopping: 'stopping auslauf',
  cut: 'cut coupe not-running',
  accessory: 'accessory acc accessories accessoires radio kl-s kl-r klemme-r klemme-s',
  start: 'start starter demarreur crank anlasser',
  neutral: 'neutral leerlauf point-mort neutre',
  reverse: 'reverse rueckwaerts marche-arriere backward rueckwaertsgang rev rvs revers',
  park: 'park parking parked parken stationnement',
  drive: 'drive',
  up: 'up upshift hoch hochschalten monter higher shift-up',
  down: 'down downshift runter herunterschalten descendre lower shift-down',
  automatic: 'automatic auto automatique automatik',
  manual: 'manual manuel manuell sequential sequentiel sequenziell tiptronic',
  sport: 'sport dynamic sportiv dynamik dynamique',
  snow: 'snow neige schnee winter',
  eco: 'eco economy-mode',
  comfort: 'comfort komfort confort',
  low: 'low slow petite petit lente lent langsam niedrig faible min-level lo',
  high: 'high grande grand fast rapide schnell hi',
  level1: 'gear1',
  plugged: 'plugged connected eingesteckt branche',
  unplugged: 'unplugged disconnected unconnected debranche not-plugged',
  finished: 'finished complete completed done full fertig termine charged',
  progress: 'progress in-progress encours en-cours charging laedt',
} as const;

/** Words that indicate a topic other than a state, unless a rule requires them. */
const qualifiers = {
  request:
    'request req cmd command commande demand dem desired target tgt trgt setpoint set setting soll wunsch consigne anf ' +
    'anforderung cde requested commanded ordre vorgabe rq dmd rqst wish setspeed anforderungen befehl reference-value',
  minimum: 'min mn minimum mini mindest',
  maximum: 'max mx maximum maxi hoechst peak',
  threshold: 'limit lim threshold schwelle grenze seuil limits thres limited point',
  average: 'average avg avrg mean moyen moyenne moy durchschnitt mittel mittelwert',
  fault:
    'error err fault flt defect def fehler defaut failure fail malfunction problem diag dtc defekt fehlerlampe failsafe ' +
    'diagnose diagnosis diagnostic stoerung unplausibel faulty fehl panne',
  warning: 'warning warn alert warnung alerte avertissement chime gong beep',
  validity:
    'valid validity gueltig valide q-bit qbit qualifier quality qf plausible plaus confidence ungueltig vld inv invalid vd',
  unusable:
    'invalid unknown reserved undefined sna error fault initialization initialisation init unavailable na nv uncertain ' +
    'reserve unused unbekannt ungueltig fehler notyet inconnu invalide indisponible not-available not-used not-defined ' +
    'no-data not-valid signal-not-available defect not-supported not-installed not-equipped nicht-verbaut not-yet tbd nicht-verfuegbar default',
  counter: 'counter cnt count ctr checksum crc chksum bz cpt zaehler chk csum alive rolling msgcount parity e2e',
  inverted: 'inverted inverse complement invertiert neg negated inhibit inhibited',
  available:
    'available avail availability enable enabled disable disabled authorized autorise allowed permission freigabe ena en auth autor possible',
  switch: 'switch sw swtch schalter contacteur',
  button: 'button btn taster taste bouton stalk knob lever-switch',
  configuration:
    'config configuration option unit units einheit coding variant variante codierung type typ calib calibration offset language version',
  history: 'history memory stored last previous old alt',
  total: 'total tot gesamt cumulative cumul cumulated lifetime accumulated cumule used consumed',
  text: 'text texte message msg icon symbol',
  delay: 'delay duration remaining-time tempo',
  related: 'related unknown new unclear unsure unnamed spare reserved padding',
  virtual: 'virtual simulated model modell fictive',
  start: 'start starter startstop start-stop stt anfahr anfahren stopstart restart',
  inertial: 'ins imu gyro gps gnss navi',
} as const;

/** Words that say nothing about the measured quantity. */
const neutral = {
  '':
    'state status stat st sta value val act actual ist signal sig sens sensor info information inf data dat com the of is ' +
    'measured meas actl ctl ctrl ctlr zentral central master gefiltert filtre cur curr raw filtered filt flt calc calculated est estimate estimated current mesure valeur etat wert ' +
    'zustand b s general gen main primary prim position pos de la du des le et der die das und in a e and by body ecu bcm ' +
    'bsi control module unit system sys x y ref reference refined high-res hires flag bit flg can bus fd hs ls cf cr ' +
    'di gef indicated smooth smoothed abs-value digital ',
} as const;

export type Concept =
  | keyof typeof measures
  | keyof typeof parts
  | keyof typeof assistance
  | keyof typeof states
  | keyof typeof qualifiers;

/** Meanings that change the meaning of the adjacent word. */
export const qualifying: ReadonlySet<string> = new Set(Object.keys(qualifiers));

/** Meanings by word, or by consecutive words joined with `-`. A meaningless word has the empty meaning. */
export const meanings: ReadonlyMap<string, readonly (Concept | '')[]> = byWord([
  measures,
  parts,
  assistance,
  states,
  qualifiers,
  neutral,
]);

/** Largest number of words in a phrase with its own meaning. */
export const longestPhrase = Math.max(...[...meanings.keys()].map((phrase) => phrase.split('-').length));

function byWord(groups: readonly Readonly<Record<string, string>>[]): Map<string, (Concept | '')[]> {
  const found = new Map<string, (Concept | '')[]>();
  for (const group of groups) {
    for (const [concept, words] of Object.entries(group)) {
      for (const word of words.split(' ')) {
        const known = found.get(word) ?? [];
        if (!known.includes(concept as Concept)) found.set(word, [...known, concept as Concept]);
      }
    }
  }
  return found;
}
